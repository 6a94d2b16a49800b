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

/** What Envoy rejects in a bootstrap as a whole, and in filters that are configured once. */
export const bootstrapChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.LayeredRuntime", layers),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.OverloadManager", overload),
  envoyCheck("bad-bootstrap", "envoy.config.overload.v3.ScaledTrigger", scaling),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", dnsCaches),
  envoyCheck("bad-bootstrap", "envoy.config.bootstrap.v3.Bootstrap", internalListeners),
  envoyCheck("duplicate-name", "envoy.config.bootstrap.v3.Bootstrap.StaticResources", secretNames),
  envoyCheck("missing-node", "envoy.config.bootstrap.v3.Bootstrap", nodeOfSources),
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
  layers: readonly { readonly name: string }[];
}): Iterable<EnvoyFinding> {
  yield* repeated(list, "layers", "layer");
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
  address?: {
    readonly address: Oneof<{ readonly address: string; readonly resolverName: string }>;
  };
}): Iterable<EnvoyFinding> {
  const socket = address?.address.case === "socketAddress" ? address.address.value : undefined;
  const { address: host = "", resolverName = "" } = socket ?? {};
  if (host !== "" && resolverName === "" && isIP(host) === 0)
    yield finding(
      ["address", "socket_address", "address"],
      `${quote(host)} is not an IP address, which a listener needs`,
    );
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

/** Requests to a server name the node; Envoy wants one for a file too. */
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
    if (type !== "envoy.config.core.v3.ConfigSource" && name !== "ads_config") continue;
    const isOfSubscriber =
      name === "config_source" && subscribers.has(above?.message.desc.typeName ?? "");
    if (!subscribed.has(name) && !isOfSubscriber) continue;
    yield finding(
      ["node"],
      `has no ${missing.join(" and no ")}, which ${shownField(path)} needs`,
      "set node.id and node.cluster, or start Envoy with --service-node and --service-cluster",
    );
    return;
  }
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
    return Array.isArray(value?.keys) ? undefined : "has no list of keys";
  } catch {
    return "is not JSON";
  }
}
