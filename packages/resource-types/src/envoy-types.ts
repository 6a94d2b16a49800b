import type { Reference, ResourceType } from "@xdstp/core";
import { nameFromLocator, parseLocator, printName } from "@xdstp/uri";

import { referencesOf } from "./references-of.ts";
import { typeUrlOf, typeUrls } from "./type-urls.ts";

type Follows = NonNullable<ResourceType["follows"]>[number];

const sent = (typeUrl: string): Follows => ({ typeUrl, when: "sent" });
const accepted = (typeUrl: string): Follows => ({ typeUrl, when: "accepted" });
/** The one graph of what refers to what. */
const references =
  (typeUrl: string) =>
  (payload: Uint8Array): readonly Reference[] =>
    referencesOf(typeUrl, payload);
/** A parent waits for the resources of this type that it refers to (S-WARM-1). */
const warmsWith = (parent: string, child: string): NonNullable<ResourceType["warms"]>[number] => ({
  typeUrl: child,
  names: (payload) =>
    referencesOf(parent, payload)
      .filter(({ typeUrl }) => typeUrl === child)
      .flatMap(({ name }) => requestedName(name) ?? []),
});

/** The name that a client requests first for a reference, without its alternative. undefined: an entry of a list, which is requested under the type of the list. */
function requestedName(name: string): string | undefined {
  if (!name.startsWith("xdstp:") || !name.includes("#")) return name;
  const parsed = parseLocator(name);
  if (!parsed.ok || parsed.value.scheme !== "xdstp") return undefined;
  return parsed.value.directives.some(({ kind }) => kind === "entry")
    ? undefined
    : printName(nameFromLocator(parsed.value));
}

/** The types that come before anything that routes to clusters (S-ORD-2). */
const clustersReady: readonly Follows[] = [
  accepted(typeUrls.cluster),
  accepted(typeUrls.clusterLoadAssignment),
];
/** Secrets and extension configs that are subscribed already go before what refers to them again (S-ORD-1); a client that subscribes to one because of a new resource has that resource. */
const partsSent: readonly Follows[] = [sent(typeUrls.secret), sent(typeUrls.typedExtensionConfig)];

/** Certificates, keys and trust. Follows nothing: a running Envoy holds the ACK of a cluster back until its secrets have come (S-ORD-2). */
export const secret: ResourceType = {
  typeUrl: typeUrls.secret,
  legacyWildcard: false,
  refersTo: [typeUrls.cluster, typeUrls.listener, typeUrls.typedExtensionConfig],
};

/** A filter or another extension that is delivered by itself (ECDS). Envoy breaks where one is removed that is in use (S-REM-3). */
export const typedExtensionConfig: ResourceType = {
  typeUrl: typeUrls.typedExtensionConfig,
  legacyWildcard: false,
  follows: [sent(typeUrls.secret)],
  refersTo: [typeUrls.cluster, typeUrls.listener],
  keepWhileReferenced: true,
  references: references(typeUrls.typedExtensionConfig),
};

/** A layer of runtime values; without relation to other types. */
export const runtime: ResourceType = {
  typeUrl: typeUrls.runtime,
  legacyWildcard: false,
};

/** A cluster. New or changed, it waits for its assignment (S-WARM-1). */
export const cluster: ResourceType = {
  typeUrl: typeUrls.cluster,
  collectionTypeUrl: typeUrlOf("envoy.config.cluster.v3.ClusterCollection"),
  fullStateInSotw: true,
  follows: partsSent,
  refersTo: [
    typeUrls.listener,
    typeUrls.routeConfiguration,
    typeUrls.scopedRouteConfiguration,
    typeUrls.virtualHost,
    typeUrls.typedExtensionConfig,
  ],
  warms: [warmsWith(typeUrls.cluster, typeUrls.clusterLoadAssignment)],
  references: references(typeUrls.cluster),
};

/** The endpoints of a cluster. */
export const clusterLoadAssignment: ResourceType = {
  typeUrl: typeUrls.clusterLoadAssignment,
  legacyWildcard: false,
  follows: [sent(typeUrls.cluster)],
  refersTo: [typeUrls.cluster],
  references: references(typeUrls.clusterLoadAssignment),
};

/** One endpoint of a collection that an assignment names (LEDS). It has no name in its payload, so in SotW it travels wrapped only. */
export const lbEndpoint: ResourceType = {
  typeUrl: typeUrls.lbEndpoint,
  collectionTypeUrl: typeUrlOf("envoy.config.endpoint.v3.LbEndpointCollection"),
  nameField: 0,
  legacyWildcard: false,
  follows: [sent(typeUrls.clusterLoadAssignment)],
  refersTo: [typeUrls.clusterLoadAssignment],
};

/** A listener. New or changed, it waits for its route configurations (S-WARM-1). */
export const listener: ResourceType = {
  typeUrl: typeUrls.listener,
  collectionTypeUrl: typeUrlOf("envoy.config.listener.v3.ListenerCollection"),
  fullStateInSotw: true,
  follows: [...clustersReady, ...partsSent],
  warms: [warmsWith(typeUrls.listener, typeUrls.routeConfiguration)],
  references: references(typeUrls.listener),
};

/** Routes of a listener. */
export const routeConfiguration: ResourceType = {
  typeUrl: typeUrls.routeConfiguration,
  legacyWildcard: false,
  follows: [...clustersReady, sent(typeUrls.listener)],
  refersTo: [typeUrls.listener, typeUrls.scopedRouteConfiguration],
  references: references(typeUrls.routeConfiguration),
};

/** The routes for each scope of a listener. Envoy deletes those that a SotW response leaves out (S-FULL-1). */
export const scopedRouteConfiguration: ResourceType = {
  typeUrl: typeUrls.scopedRouteConfiguration,
  fullStateInSotw: true,
  follows: [...clustersReady, sent(typeUrls.listener)],
  references: references(typeUrls.scopedRouteConfiguration),
};

/** A virtual host that is requested on demand (VHDS). Envoy lets a waiting request continue only by an entry in `resources` (S-MISS-2). */
export const virtualHost: ResourceType = {
  typeUrl: typeUrls.virtualHost,
  follows: [...clustersReady, sent(typeUrls.routeConfiguration)],
  missingAs: "empty-resource",
  references: references(typeUrls.virtualHost),
};

/** Envoy's resource types, in the order in which they are sent (S-ORD-1). */
export const envoyTypes: readonly ResourceType[] = [
  secret,
  typedExtensionConfig,
  runtime,
  cluster,
  clusterLoadAssignment,
  lbEndpoint,
  listener,
  scopedRouteConfiguration,
  routeConfiguration,
  virtualHost,
];

/** The type URL of each short name that people write in folders and commands. */
export const shortTypes: ReadonlyMap<string, string> = new Map([
  ["listeners", typeUrls.listener],
  ["routes", typeUrls.routeConfiguration],
  ["scoped-routes", typeUrls.scopedRouteConfiguration],
  ["virtual-hosts", typeUrls.virtualHost],
  ["clusters", typeUrls.cluster],
  ["endpoints", typeUrls.clusterLoadAssignment],
  ["lb-endpoints", typeUrls.lbEndpoint],
  ["secrets", typeUrls.secret],
  ["runtimes", typeUrls.runtime],
  ["extensions", typeUrls.typedExtensionConfig],
]);

const shortNames: ReadonlyMap<string, string> = new Map(
  [...shortTypes].map(([name, typeUrl]) => [typeUrl, name]),
);

/** The short name of a type URL; undefined for types without one. */
export function shortNameOf(typeUrl: string): string | undefined {
  return shortNames.get(typeUrl);
}
