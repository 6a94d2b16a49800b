import { isIP } from "node:net";
import { toBinary } from "@bufbuild/protobuf";
import { quote } from "../folder-problem.ts";
import { shownField } from "../json-path-of.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  keyStep,
  type Oneof,
  typeOfExtension,
} from "./envoy-check.ts";
import { addressFaults, type SocketAddress } from "./network-addresses.ts";
import { type VisitedMessage, visitMessages } from "./visit-messages.ts";

interface Trigger {
  readonly name: string;
}

interface OverloadManager {
  readonly resourceMonitors: readonly Extension[];
  readonly actions: readonly { readonly name: string; readonly triggers: readonly Trigger[] }[];
  readonly loadshedPoints: readonly {
    readonly name: string;
    readonly triggers: readonly Trigger[];
  }[];
}

/** Checks of a bootstrap as a whole, and of filters that are configured once. */
export const bootstrapChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.LayeredRuntime", layers),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", watchdogs),
  ...["StatsdSink", "DogStatsdSink"].map((type) =>
    envoyCheck("bad-bootstrap", `envoy.config.metrics.v3.${type}`, statsAddress),
  ),
  envoyCheck(
    "bad-bootstrap",
    "envoy.extensions.stat_sinks.graphite_statsd.v3.GraphiteStatsdSink",
    statsAddress,
  ),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.OverloadManager", overload),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.ScaledTrigger", scaling),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", dnsCaches),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", internalListeners),
  envoyCheck("duplicate-name", "envoy.config.bootstrap.v3.Bootstrap.StaticResources", secretNames),
  envoyCheck("missing-node", "envoy.config.bootstrap.v3.Bootstrap", nodeOfSources),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", sourcesOfEds),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Admin", adminAddress),
  envoyCheck("bad-bootstrap", "envoy.config.core.v3.ConfigSource", sourceFile),
  envoyCheck(
    "bad-jwt",
    "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication",
    jwtProviders,
  ),
  envoyCheck("bad-jwt", "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider", jwtKeys),
];

function* layers({
  layers: list,
}: {
  layers: readonly { readonly name: string; readonly layerSpecifier: Oneof }[];
}): Iterable<EnvoyFinding> {
  yield* repeated(list, "layers", "layer");
  const first = list.findIndex(isAdminLayer);
  for (const [index, one] of list.entries())
    if (isAdminLayer(one) && index !== first)
      yield finding(
        ["layers", index, "admin_layer"],
        `only one layer can be that of the admin page, and layers[${first}] is it already`,
      );
}

function isAdminLayer({ layerSpecifier }: { readonly layerSpecifier: Oneof }): boolean {
  return layerSpecifier.case === "adminLayer";
}

function* watchdogs({
  watchdog,
  watchdogs: both,
}: {
  watchdog?: object;
  watchdogs?: object;
}): Iterable<EnvoyFinding> {
  if (watchdog !== undefined && both !== undefined)
    yield finding(["watchdog"], "cannot be set next to watchdogs", "keep the latter");
}

/** The address of a server of statistics is not looked up. */
function* statsAddress({
  statsdSpecifier,
  dogStatsdSpecifier,
}: {
  statsdSpecifier?: Oneof;
  dogStatsdSpecifier?: Oneof;
}): Iterable<EnvoyFinding> {
  const form = statsdSpecifier ?? dogStatsdSpecifier;
  if (form?.case !== "address") return;
  const { address } = form.value as {
    readonly address: Oneof<{ readonly address: string; readonly resolverName: string }>;
  };
  const socket = address.case === "socketAddress" ? address.value : undefined;
  const { address: host = "", resolverName = "" } = socket ?? {};
  if (host !== "" && resolverName === "" && isIP(host) === 0)
    yield finding(
      ["address", "socket_address", "address"],
      `${quote(host)} is not an IP address`,
      "Envoy does not look up names here",
    );
}

function* repeated(
  list: readonly { readonly name: string }[],
  field: string,
  what: string,
): Iterable<EnvoyFinding> {
  const seen = new Map<string, number>();
  for (const [index, { name }] of list.entries()) {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, index);
    else yield finding([field, index, "name"], `${quote(name)} is the name of an earlier ${what}`);
  }
}

/** Secrets of different kinds may share a name. */
function* secretNames({
  secrets,
}: {
  secrets: readonly { readonly name: string; readonly type: Oneof }[];
}): Iterable<EnvoyFinding> {
  const seen = new Set<string>();
  for (const [index, { name, type }] of secrets.entries()) {
    const key = `${type.case ?? ""} ${name}`;
    if (seen.has(key))
      yield finding(
        ["secrets", index, "name"],
        `${quote(name)} is the name of an earlier secret of the same kind`,
      );
    seen.add(key);
  }
}

/** The actions that Envoy 1.40 has. */
const actions: ReadonlySet<string> = new Set(
  [
    "stop_accepting_requests",
    "disable_http_keepalive",
    "stop_accepting_connections",
    "reject_incoming_connections",
    "shrink_heap",
    "reduce_timeouts",
    "reset_high_memory_stream",
  ].map((name) => `envoy.overload_actions.${name}`),
);

function* overload(manager: OverloadManager): Iterable<EnvoyFinding> {
  const { resourceMonitors, actions: list, loadshedPoints } = manager;
  yield* repeated(resourceMonitors, "resource_monitors", "resource monitor");
  yield* repeated(list, "actions", "action");
  yield* repeated(loadshedPoints, "loadshed_points", "point");
  for (const [index, { name }] of list.entries())
    if (!actions.has(name))
      yield finding(["actions", index, "name"], `${quote(name)} is not an action of Envoy`);
  const monitors = new Set(resourceMonitors.map(({ name }) => name));
  for (const [field, users] of [
    ["actions", list],
    ["loadshed_points", loadshedPoints],
  ] as const)
    for (const [index, { triggers }] of users.entries())
      for (const [at, { name }] of triggers.entries())
        if (!monitors.has(name))
          yield finding(
            [field, index, "triggers", at, "name"],
            `${quote(name)} is not among the resource_monitors`,
          );
}

function* scaling({
  scalingThreshold: from,
  saturationThreshold: to,
}: {
  scalingThreshold: number;
  saturationThreshold: number;
}): Iterable<EnvoyFinding> {
  if (from >= to) yield finding(["scaling_threshold"], "must be less than saturation_threshold");
}

/** Caches of one name are one cache, so that their settings must be equal. */
function* dnsCaches(_: object, { visited, registry }: CheckScene): Iterable<EnvoyFinding> {
  const seen = new Map<string, { readonly bytes: Buffer; readonly cache: VisitedMessage }>();
  for (const cache of visitMessages(visited, registry)) {
    const { message } = cache;
    if (message.desc.typeName !== "envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig")
      continue;
    const { name } = message.message as unknown as { readonly name: string };
    const bytes = Buffer.from(toBinary(message.desc, message.message));
    const first = seen.get(name);
    if (first === undefined) seen.set(name, { bytes, cache });
    else if (!first.bytes.equals(bytes))
      yield finding(
        stepsOf(cache.path),
        `the DNS cache ${quote(name)} has other settings elsewhere`,
        "make all dns_cache_config of one name equal",
      );
  }
}

/** The way to a message, as a finding has it. */
function stepsOf(path: VisitedMessage["path"]): EnvoyFinding["at"] {
  return path.map((step) =>
    step.kind === "index" ? step.index : step.kind === "key" ? keyStep(step.key) : step.name,
  );
}

const internalListener = "envoy.extensions.bootstrap.internal_listener.v3.InternalListener";

/** Listeners within Envoy need an extension, which has their buffers. */
function* internalListeners({
  bootstrapExtensions,
  staticResources,
}: {
  bootstrapExtensions: readonly Extension[];
  staticResources?: {
    readonly listeners: readonly { readonly listenerSpecifier: Oneof }[];
  };
}): Iterable<EnvoyFinding> {
  if (bootstrapExtensions.some((one) => typeOfExtension(one) === internalListener)) return;
  for (const [index, { listenerSpecifier }] of (staticResources?.listeners ?? []).entries())
    if (listenerSpecifier.case === "internalListener")
      yield finding(
        ["static_resources", "listeners", index, "internal_listener"],
        "needs an extension of the bootstrap",
        `add ${internalListener} to bootstrap_extensions`,
      );
}

function* adminAddress({
  address,
}: {
  address?: { readonly address: Oneof<SocketAddress> };
}): Iterable<EnvoyFinding> {
  if (address?.address.case === "socketAddress" && address.address.value !== undefined)
    yield* addressFaults(address.address.value, ["address", "socket_address"], "a listener");
}

/** A source of resources in a file. Envoy looks for that of listeners later, and waits for it. */
function* sourceFile(
  { configSourceSpecifier: source }: { configSourceSpecifier: Oneof },
  { visited, files }: CheckScene,
): Iterable<EnvoyFinding> {
  const step = visited.path.at(-1);
  const isOfListeners = step?.kind === "field" && step.name === "lds_config";
  const [at, path] =
    source.case === "path"
      ? [["path"], String(source.value)]
      : source.case === "pathConfigSource"
        ? [["path_config_source", "path"], (source.value as { readonly path: string }).path]
        : [[], ""];
  if (files === undefined || path === "" || isOfListeners || files.exists(path)) return;
  yield finding(
    at,
    "is not a file that can be read",
    "Envoy reads it when it starts, relative to its working directory",
  );
}

/** The fields that hold a source to which Envoy subscribes as soon as it has read the bootstrap. */
const subscribed: ReadonlySet<string> = new Set([
  "ads_config",
  "cds_config",
  "lds_config",
  "eds_config",
  "rtds_config",
  "sds_config",
  "scoped_rds_config_source",
]);
/** The messages whose `config_source` is one of those. */
const subscribers: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.ExtensionConfigSource",
  "envoy.extensions.filters.network.http_connection_manager.v3.Rds",
]);

/** Requests to a server name the node, as statistics over TCP do; Envoy wants one for a file too. */
function* nodeOfSources(
  { node }: { node?: { readonly id: string; readonly cluster: string } },
  { visited, registry }: CheckScene,
): Iterable<EnvoyFinding> {
  const missing = (["id", "cluster"] as const).filter((field) => (node?.[field] ?? "") === "");
  if (missing.length === 0) return;
  for (const { message, path, above } of visitMessages(visited, registry)) {
    const step = path.at(-1);
    const name = step?.kind === "field" ? step.name : "";
    const type = message.desc.typeName;
    if (type === "envoy.config.metrics.v3.StatsdSink") {
      const { statsdSpecifier } = message.message as unknown as { readonly statsdSpecifier: Oneof };
      if (statsdSpecifier.case !== "tcpClusterName") continue;
      const used = [
        ...path,
        { kind: "field", name: "tcp_cluster_name", jsonName: "tcpClusterName" } as const,
      ];
      yield missingNode(missing, used);
      return;
    }
    if (type !== "envoy.config.core.v3.ConfigSource" && name !== "ads_config") continue;
    const isOfSubscriber =
      name === "config_source" && subscribers.has(above?.message.desc.typeName ?? "");
    if (!subscribed.has(name) && !isOfSubscriber) continue;
    yield missingNode(missing, path);
    return;
  }
}

function missingNode(missing: readonly string[], user: VisitedMessage["path"]): EnvoyFinding {
  return finding(
    ["node"],
    `has no ${missing.join(" and no ")}, which ${shownField(user)} needs`,
    "set node.id and node.cluster, or start Envoy with --service-node and --service-cluster",
  );
}

interface StaticCluster {
  readonly name: string;
  readonly clusterDiscoveryType: Oneof;
  readonly edsClusterConfig?: {
    readonly edsConfig?: { readonly configSourceSpecifier: Oneof };
  };
}

/** `DiscoveryType.EDS` */
const eds = 3;
/** The sources whose cluster Envoy needs before it asks for endpoints. */
const early: ReadonlySet<string> = new Set([
  "ads_config",
  "cds_config",
  "eds_config",
  "rtds_config",
]);

/** A cluster that waits for a server to have its endpoints cannot lead to a server. */
function* sourcesOfEds(
  { staticResources }: { staticResources?: { readonly clusters: readonly StaticCluster[] } },
  { visited, registry }: CheckScene,
): Iterable<EnvoyFinding> {
  const late = new Set((staticResources?.clusters ?? []).filter(isLate).map(({ name }) => name));
  if (late.size === 0) return;
  for (const { message, path, above } of visitMessages(visited, registry)) {
    if (message.desc.typeName !== "envoy.config.core.v3.ApiConfigSource") continue;
    const step = (
      above?.message.desc.typeName === "envoy.config.core.v3.ConfigSource" ? above.path : path
    ).at(-1);
    if (step?.kind !== "field" || !early.has(step.name)) continue;
    for (const [at, name] of clustersOfSource(message.message as unknown as ApiSource))
      if (late.has(name))
        yield finding(
          [...stepsOf(path), ...at],
          `the cluster ${quote(name)} gets its endpoints from a server, so it cannot lead to one`,
          "give it endpoints of its own, or a type such as STRICT_DNS",
        );
  }
}

function isLate({ clusterDiscoveryType: type, edsClusterConfig }: StaticCluster): boolean {
  const source = edsClusterConfig?.edsConfig?.configSourceSpecifier.case;
  return (
    type.case === "type" && type.value === eds && source !== "path" && source !== "pathConfigSource"
  );
}

interface ApiSource {
  readonly clusterNames: readonly string[];
  readonly grpcServices: readonly { readonly targetSpecifier: Oneof }[];
}

/** The clusters of a source, with the way to each. */
function clustersOfSource({
  clusterNames,
  grpcServices,
}: ApiSource): readonly (readonly [at: EnvoyFinding["at"], name: string])[] {
  return [
    ...clusterNames.map((name, index) => [["cluster_names", index], name] as const),
    ...grpcServices.flatMap(({ targetSpecifier: target }, index) => {
      if (target.case !== "envoyGrpc") return [];
      const { clusterName } = target.value as { readonly clusterName: string };
      return [[["grpc_services", index, "envoy_grpc", "cluster_name"], clusterName] as const];
    }),
  ];
}

interface Requirement {
  readonly requiresType: Oneof;
}

interface Jwt {
  readonly providers: Readonly<Record<string, object>>;
  readonly rules: readonly { readonly requirementType: Oneof }[];
  readonly requirementMap: Readonly<Record<string, Requirement>>;
}

function* jwtProviders({ providers, rules, requirementMap }: Jwt): Iterable<EnvoyFinding> {
  for (const [index, { requirementType: type }] of rules.entries()) {
    if (type.case === "requires")
      yield* requirement(type.value as Requirement, ["rules", index, "requires"], providers);
    if (type.case === "requirementName" && !Object.hasOwn(requirementMap, String(type.value)))
      yield finding(
        ["rules", index, "requirement_name"],
        `${quote(String(type.value))} is not in requirement_map`,
      );
  }
  for (const [key, one] of Object.entries(requirementMap))
    yield* requirement(one, ["requirement_map", `[${key}]`], providers);
}

function* requirement(
  { requiresType: type }: Requirement,
  at: readonly (string | number)[],
  providers: Readonly<Record<string, object>>,
): Iterable<EnvoyFinding> {
  switch (type.case) {
    case "providerName":
      yield* provider(String(type.value), [...at, "provider_name"], providers);
      break;
    case "providerAndAudiences": {
      const { providerName } = type.value as { readonly providerName: string };
      yield* provider(providerName, [...at, "provider_and_audiences", "provider_name"], providers);
      break;
    }
    case "requiresAny":
    case "requiresAll": {
      const field = type.case === "requiresAny" ? "requires_any" : "requires_all";
      const { requirements } = type.value as { readonly requirements: readonly Requirement[] };
      for (const [index, one] of requirements.entries())
        yield* requirement(one, [...at, field, "requirements", index], providers);
    }
  }
}

function* provider(
  name: string,
  at: readonly (string | number)[],
  providers: Readonly<Record<string, object>>,
): Iterable<EnvoyFinding> {
  if (!Object.hasOwn(providers, name))
    yield finding(at, `${quote(name)} is not one of the providers`);
}

function* jwtKeys({
  jwksSourceSpecifier: source,
}: {
  jwksSourceSpecifier: Oneof;
}): Iterable<EnvoyFinding> {
  if (source.case !== "localJwks") return;
  const { specifier } = source.value as { readonly specifier: Oneof };
  if (specifier.case !== "inlineString" || typeof specifier.value !== "string") return;
  const reason = keysError(specifier.value);
  if (reason !== undefined) yield finding(["local_jwks", "inline_string"], reason);
}

/** Certificates in PEM are taken too, and a comma after the last entry. */
function keysError(text: string): string | undefined {
  if (text.includes("-----BEGIN ")) return undefined;
  try {
    const value = JSON.parse(text.replaceAll(/,(\s*[\]}])/g, "$1")) as {
      readonly keys?: unknown;
    } | null;
    const keys: unknown = value?.keys;
    if (!Array.isArray(keys)) return "has no list of keys";
    return keys.length === 0 ? "has no key" : undefined;
  } catch {
    return "is not JSON";
  }
}
