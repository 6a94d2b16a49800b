import type { Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { cluster, secret } from "@xdstp/resource-types";
import type { PathStep } from "@xdstp/validate";
import {
  closestMessage,
  type VisitedMessage,
  visitMessages,
} from "./envoy-checks/visit-messages.ts";

/** A name that has to be one of the static resources of the bootstrap. */
export interface StaticReference {
  readonly typeUrl: string;
  readonly name: string;
  /** The path of the field with the name. */
  readonly path: readonly PathStep[];
  /** true: Envoy does not start without the resource. */
  readonly isRequired: boolean;
  readonly hint: string;
}

const hints = {
  secret: "a secret without sds_config has to be in static_resources.secrets",
  source: "the cluster of a config source has to be in static_resources.clusters",
  own: "a cluster that Envoy itself uses has to be in static_resources.clusters",
  route: "add it to static_resources.clusters, or set validate_clusters to false",
} as const;

/** Returns the names in a bootstrap that only its static resources can have: secrets without a source, the clusters of config sources, those of static routes, and those that Envoy itself uses. */
export function staticReferencesIn(
  bootstrap: ReflectMessage,
  registry: Registry,
): readonly StaticReference[] {
  return Array.from(
    visitMessages({ message: bootstrap, path: [], above: undefined }, registry),
    referencesOfMessage,
  ).flat();
}

function referencesOfMessage(visited: VisitedMessage): readonly StaticReference[] {
  const { message } = visited;
  switch (message.desc.typeName) {
    case "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig":
      if (isSetIn(message, "sds_config")) return [];
      return referencesIn(visited, "name", {
        typeUrl: secret.typeUrl,
        isRequired: true,
        hint: hints.secret,
      });
    case "envoy.config.core.v3.ApiConfigSource":
      return referencesIn(visited, "cluster_names", sourceOf(visited));
    case "envoy.config.core.v3.GrpcService.EnvoyGrpc": {
      const source = closestMessage(visited, "envoy.config.core.v3.ApiConfigSource");
      return source === undefined ? [] : referencesIn(visited, "cluster_name", sourceOf(source));
    }
    case "envoy.config.route.v3.RouteAction":
    case "envoy.config.route.v3.RouteAction.RequestMirrorPolicy":
      return isInStaticRoute(visited) ? referencesIn(visited, "cluster", ofRoute) : [];
    case "envoy.config.route.v3.WeightedCluster.ClusterWeight":
      return isInStaticRoute(visited) ? referencesIn(visited, "name", ofRoute) : [];
    case `${thrift}.RouteAction`:
    case `${thrift}.RouteAction.RequestMirrorPolicy`:
      return isInStaticThriftRoute(visited) ? referencesIn(visited, "cluster", ofRoute) : [];
    case `${thrift}.WeightedCluster.ClusterWeight`:
      return isInStaticThriftRoute(visited) ? referencesIn(visited, "name", ofRoute) : [];
    case "envoy.config.bootstrap.v3.ClusterManager":
      return referencesIn(visited, "local_cluster_name", ofEnvoy);
    case "envoy.config.metrics.v3.StatsdSink":
      return referencesIn(visited, "tcp_cluster_name", ofEnvoy);
    case "envoy.config.trace.v3.ZipkinConfig":
    case "envoy.config.trace.v3.DatadogConfig":
      // Envoy creates the tracer of the bootstrap later, and then rejects nothing.
      return closestMessage(visited, managerType) === undefined
        ? []
        : referencesIn(visited, "collector_cluster", ofEnvoy);
    default:
      return [];
  }
}

const thrift = "envoy.extensions.filters.network.thrift_proxy.v3";
const manager = "envoy.extensions.filters.network.http_connection_manager.v3";
const managerType = `${manager}.HttpConnectionManager`;
const rdsType = `${manager}.Rds`;
const ofRoute = { typeUrl: cluster.typeUrl, isRequired: true, hint: hints.route };
const ofEnvoy = { typeUrl: cluster.typeUrl, isRequired: true, hint: hints.own };

/** Returns how Envoy looks up the cluster of a config source. It does so as soon as it subscribes; for secrets, health discovery and load reports that is later than the start. */
function sourceOf(source: VisitedMessage): Omit<StaticReference, "name" | "path"> {
  const above = source.above?.message.desc.typeName;
  // Envoy subscribes to routes when the listener exists, and accepts a listener without them.
  const isOfRoutes = source.above?.above?.message.desc.typeName === rdsType;
  const isRequired =
    above === "envoy.config.bootstrap.v3.Bootstrap.DynamicResources" ||
    (above === "envoy.config.core.v3.ConfigSource" &&
      !isOfRoutes &&
      closestMessage(source, "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig") ===
        undefined);
  return { typeUrl: cluster.typeUrl, isRequired, hint: hints.source };
}

/** Returns true if the routes are part of a connection manager and Envoy looks up their clusters, which it does unless `validate_clusters` is false. */
function isInStaticRoute(visited: VisitedMessage): boolean {
  // Envoy does not check the actions in a tree of matchers.
  if (closestMessage(visited, "xds.type.matcher.v3.Matcher") !== undefined) return false;
  return isValidated(closestMessage(visited, "envoy.config.route.v3.RouteConfiguration"));
}

function isInStaticThriftRoute(visited: VisitedMessage): boolean {
  return isValidated(closestMessage(visited, `${thrift}.RouteConfiguration`));
}

function isValidated(routes: VisitedMessage | undefined): boolean {
  const step = routes?.path.at(-1);
  if (routes === undefined || step?.kind !== "field" || step.name !== "route_config") return false;
  const { validateClusters } = routes.message.message as unknown as {
    readonly validateClusters?: boolean;
  };
  return validateClusters !== false;
}

function referencesIn(
  { message, path }: VisitedMessage,
  name: string,
  rest: Omit<StaticReference, "name" | "path">,
): readonly StaticReference[] {
  const field = message.desc.fields.find((one) => one.name === name);
  if (field === undefined || !message.isSet(field)) return [];
  const at: readonly PathStep[] = [...path, { kind: "field", name, jsonName: field.jsonName }];
  if (field.fieldKind === "list")
    return Array.from(message.get(field), (one, index) => ({
      ...rest,
      name: String(one),
      path: [...at, { kind: "index", index }],
    }));
  const value: unknown = message.get(field);
  return typeof value === "string" ? [{ ...rest, name: value, path: at }] : [];
}

/** Returns true if a message has a field, and the field is set. */
export function isSetIn(message: ReflectMessage | undefined, name: string): boolean {
  const field = message?.desc.fields.find((one) => one.name === name);
  return field !== undefined && message?.isSet(field) === true;
}
