import { byAge, type GatewayListener, hostnameAt, titleOfListener } from "./gateway-listeners.ts";
import { anyHost, covering, intersection } from "./hostnames.ts";
import type { KubernetesObjects } from "./kubernetes-objects.ts";
import {
  dangling,
  field,
  integerOf,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  reportUnread,
  requiredText,
  rootOf,
  textOf,
  titleOf,
} from "./object-node.ts";

/** A route at a listener. */
export interface AttachedRoute {
  readonly listener: GatewayListener;
  readonly route: KubernetesObject;
  /** The intersection of the hostnames of the route and the listener; at least one. */
  readonly hostnames: readonly string[];
}

/** Finds the routes at some listeners, the older route first. */
export type RoutesAt = (listeners: readonly GatewayListener[]) => readonly AttachedRoute[];

/** Reads the listener of each route once. `attached`: the older route first. */
export function createRoutesAt(attached: readonly AttachedRoute[]): RoutesAt {
  const byListener = Map.groupBy(attached.entries(), ([, { listener }]) => listener);
  return (listeners) =>
    listeners
      .flatMap((listener) => byListener.get(listener) ?? [])
      .sort(([one], [other]) => one - other)
      .map(([, route]) => route);
}

const routeKinds = ["HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"] as const;
const commonFields = ["parentRefs", "rules"];

/** Attaches routes to listeners, the older route first. A parent that a route cannot be attached to is reported. */
export function attachRoutes(
  objects: KubernetesObjects,
  listeners: readonly GatewayListener[],
): readonly AttachedRoute[] {
  const routes = routeKinds.flatMap((kind) => objects.of(kind)).sort(byAge);
  const attached: AttachedRoute[] = [];
  const ofKind = new Map<string, AttachedRoute[]>(routeKinds.map((kind) => [kind, []]));
  const listenersOf = indexed(listeners);
  for (const route of routes) {
    const spec = field(rootOf(route), "spec");
    const hasHostnames = route.kind !== "TCPRoute" && route.kind !== "UDPRoute";
    reportUnread(spec, hasHostnames ? [...commonFields, "hostnames"] : commonFields);
    const hostnames = itemsOf(field(spec, "hostnames")).flatMap((node) => hostnameAt(node) ?? []);
    const parents = itemsOf(field(spec, "parentRefs"));
    if (parents.length === 0)
      notImported(rootOf(route), "it has no parentRefs", "name the Gateway that serves it");
    const seen = new Set<GatewayListener>();
    for (const parent of parents)
      for (const one of attachedTo(parent, { route, hostnames, objects, listenersOf })) {
        if (seen.has(one.listener)) continue;
        seen.add(one.listener);
        const rivals = ofKind.get(rivalKinds.get(route.kind) ?? "");
        const rival = rivals?.find((before) => excludes(before, one));
        if (rival === undefined) {
          attached.push(one);
          ofKind.get(route.kind)?.push(one);
        } else
          notImported(
            parent,
            `${titleOf(rival.route)} is older, and has hostnames of it at the listener ${titleOfListener(one.listener)}`,
            "give an HTTPRoute and a GRPCRoute different hostnames",
          );
      }
  }
  return attached;
}

/** Kinds of routes that cannot share a hostname of a listener: the older route has it. */
const rivalKinds: ReadonlyMap<string, string> = new Map([
  ["HTTPRoute", "GRPCRoute"],
  ["GRPCRoute", "HTTPRoute"],
]);

/** Returns true if a route and one of a rival kind share a hostname of a listener. */
function excludes(before: AttachedRoute, one: AttachedRoute): boolean {
  if (before.listener !== one.listener) return false;
  return before.hostnames.some((hostname) =>
    one.hostnames.some((other) => intersection(hostname, other) !== undefined),
  );
}

interface Attachment {
  readonly route: KubernetesObject;
  readonly hostnames: readonly string[];
  readonly objects: KubernetesObjects;
  readonly listenersOf: ListenersOf;
}

function attachedTo(
  parent: ObjectNode,
  { route, hostnames, objects, listenersOf }: Attachment,
): readonly AttachedRoute[] {
  reportUnread(parent, ["group", "kind", "namespace", "name", "sectionName", "port"]);
  const group = textOf(field(parent, "group")) ?? "gateway.networking.k8s.io";
  const kind = textOf(field(parent, "kind")) ?? "Gateway";
  if (group !== "gateway.networking.k8s.io" || kind !== "Gateway") {
    notImported(parent, "it is not a Gateway", "name a Gateway; a mesh of Services is not read");
    return [];
  }
  const namespace = textOf(field(parent, "namespace")) ?? route.namespace;
  const name = requiredText(field(parent, "name"));
  const gateway = objects.get("Gateway", namespace, name);
  if (gateway === undefined) {
    dangling(
      parent,
      `refers to Gateway ${namespace}/${name}, which is in none of the files`,
      "give the file that has it",
    );
    return [];
  }
  const section = textOf(field(parent, "sectionName"));
  const port = integerOf(field(parent, "port"), 1, 65_535);
  const isNamed = (one: GatewayListener): boolean =>
    (section === undefined || section === one.name) && (port === undefined || port === one.port);
  const found = listenersOf(gateway, hostnames).flatMap((listener) => {
    if (!isNamed(listener) || !listener.kinds.has(route.kind)) return [];
    if (!listener.allowsNamespace(route.namespace)) return [];
    const common = commonHostnames(listener, hostnames);
    return common.length === 0 ? [] : [{ listener, route, hostnames: common }];
  });
  if (found.length > 0) return found;
  const named = listenersOf(gateway, []).filter(isNamed);
  const ofKind = named.filter((one) => one.kinds.has(route.kind));
  const allowed = ofKind.filter((one) => one.allowsNamespace(route.namespace));
  const to = `of Gateway ${namespace}/${name}`;
  if (named.length === 0)
    notImported(parent, `no listener ${to} is served with this name or port`, "correct it");
  else if (ofKind.length === 0)
    notImported(parent, `no listener ${to} has routes of this kind`, "name another listener");
  else if (allowed.length === 0)
    notImported(
      parent,
      `no listener ${to} allows routes from namespace ${route.namespace}`,
      "change allowedRoutes of the Gateway",
    );
  else
    notImported(parent, `no listener ${to} has a hostname of the route`, "correct the hostnames");
  return [];
}

/** The listeners of a Gateway, at least those that have one of these hostnames. Without hostnames: all. */
type ListenersOf = (
  gateway: KubernetesObject,
  hostnames: readonly string[],
) => readonly GatewayListener[];

/** Finds the listeners of a hostname without looking at all of them. */
function indexed(listeners: readonly GatewayListener[]): ListenersOf {
  const ofGateway = Map.groupBy(listeners, ({ gateway }) => gateway);
  const orderOf = new Map(listeners.map((one, at) => [one, at]));
  const ofHostname = new Map(
    Array.from(
      ofGateway,
      ([gateway, own]) => [gateway, Map.groupBy(own, ({ hostname }) => hostname)] as const,
    ),
  );
  const orderAt = (one: GatewayListener): number => orderOf.get(one) ?? 0;
  return (gateway, hostnames) => {
    // One with a wildcard may have any listener below it.
    if (hostnames.length === 0 || hostnames.some((one) => one.startsWith(anyHost)))
      return ofGateway.get(gateway) ?? [];
    const wide = new Set(hostnames.flatMap(covering));
    return Array.from(wide, (one) => ofHostname.get(gateway)?.get(one) ?? [])
      .flat()
      .sort((one, other) => orderAt(one) - orderAt(other));
  };
}

function commonHostnames(
  { hostname }: GatewayListener,
  hostnames: readonly string[],
): readonly string[] {
  const own = hostnames.length === 0 ? [anyHost] : hostnames;
  return [...new Set(own.flatMap((one) => intersection(hostname, one) ?? []))];
}
