import { createRequire } from "node:module";
import { isIP } from "node:net";
import type { RE2JS } from "@bufbuild/re2";
import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { leastProgramSize } from "./pattern-size.ts";
import { closestMessage, type VisitedMessage } from "./visit-messages.ts";

/** `ApiVersion.V2` */
const version2 = 1;

interface StatusRange {
  readonly start: bigint;
  readonly end: bigint;
}

/** Checks of values that occur in many places. */
export const valueChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-pattern", "envoy.type.matcher.v3.RegexMatcher", pattern),
  envoyCheck("bad-pattern", "xds.type.matcher.v3.RegexMatcher", pattern),
  envoyCheck("bad-pattern", "envoy.type.matcher.v3.RegexMatchAndSubstitute", substitution),
  envoyCheck("bad-value", "envoy.config.core.v3.CidrRange", network),
  envoyCheck("bad-value", "xds.core.v3.CidrRange", network),
  envoyCheck("bad-value", "envoy.config.core.v3.SocketAddress", ipv4Compat),
  ...[
    "envoy.config.core.v3.ApiConfigSource",
    "envoy.config.ratelimit.v3.RateLimitServiceConfig",
    "envoy.config.metrics.v3.MetricsServiceConfig",
    "envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig",
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
    "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz",
  ].map((type) => envoyCheck("bad-value", type, apiVersion)),
  envoyCheck("bad-value", "envoy.config.core.v3.ApiConfigSource", services),
  envoyCheck("bad-value", "envoy.config.core.v3.HealthCheck.HttpHealthCheck", statuses),
  envoyCheck(
    "bad-value",
    "envoy.extensions.filters.http.admission_control.v3.AdmissionControl.SuccessCriteria.HttpCriteria",
    successes,
  ),
];

interface Pattern {
  readonly regex: string;
  readonly engineType: Oneof<{ readonly maxProgramSize?: number }>;
}

function* pattern(
  { regex, engineType: { value: settings } }: Pattern,
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  // Envoy does not read these when it validates.
  if (closestMessage(visited, "envoy.config.metrics.v3.StatsConfig") !== undefined) return;
  if (regex === "") return;
  const reason = patternError(regex);
  if (reason !== undefined) {
    yield finding(
      ["regex"],
      `is not a pattern of RE2: ${reason}`,
      "RE2 has no lookaround and no back-references",
    );
    return;
  }
  // Envoy limits patterns of its own type only.
  if (visited.message.desc.typeName.startsWith("xds.")) return;
  const limit = settings?.maxProgramSize ?? maxProgramSize(visited);
  const size = limit === undefined ? undefined : programSize(regex);
  if (limit !== undefined && size !== undefined && size > limit)
    yield finding(
      ["regex"],
      `is compiled to a program of ${size} instructions or more, and the limit is ${limit}`,
      `write a shorter pattern, or raise ${settings?.maxProgramSize === undefined ? `${maxProgramSizeKey} in layered_runtime` : "max_program_size"}`,
    );
}

function programSize(regex: string): number | undefined {
  try {
    return leastProgramSize(regex, compiled);
  } catch {
    return undefined; // A pattern that only the engine of Envoy reads.
  }
}

const maxProgramSizeKey = "re2.max_program_size.error_level";

/** The limit of programs that the runtime sets; undefined: not known, since a layer or the runtime is elsewhere. */
function maxProgramSize(visited: VisitedMessage): number | undefined {
  const { message } = closestMessage(visited, "envoy.config.bootstrap.v3.Bootstrap") ?? {};
  if (message === undefined) return undefined;
  const { layeredRuntime } = message.message as {
    readonly layeredRuntime?: { readonly layers: readonly { readonly layerSpecifier: Oneof }[] };
  };
  let limit = 100;
  for (const { layerSpecifier: layer } of layeredRuntime?.layers ?? []) {
    if (layer.case === "diskLayer" || layer.case === "rtdsLayer") return undefined;
    if (layer.case !== "staticLayer") continue;
    const set = valueIn(layer.value, maxProgramSizeKey);
    if (set !== undefined) limit = set;
  }
  return limit;
}

/** A number of a layer, whose keys may be parted at their dots into objects. */
function valueIn(layer: unknown, key: string): number | undefined {
  if (typeof layer !== "object" || layer === null) return undefined;
  for (const [name, value] of Object.entries(layer)) {
    if (name === key) return Number(value);
    const inner = key.startsWith(`${name}.`)
      ? valueIn(value, key.slice(name.length + 1))
      : undefined;
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Backslashes of a substitution begin a group or a backslash. */
function* substitution({
  pattern: matcher,
  substitution: text,
}: {
  pattern?: { readonly regex: string };
  substitution: string;
}): Iterable<EnvoyFinding> {
  if (matcher === undefined || patternError(matcher.regex) !== undefined) return;
  const stray = /\\(?![\d\\])/.exec(text.replaceAll(/\\[\d\\]/g, "  "));
  if (stray !== null)
    yield finding(
      ["substitution"],
      "has a backslash that is followed by neither a digit nor another one",
    );
}

const require = createRequire(import.meta.url);
let engine: typeof RE2JS | undefined;

function compiled(regex: string): RE2JS {
  engine ??= (require("@bufbuild/re2") as { readonly RE2JS: typeof RE2JS }).RE2JS;
  return engine.compile(regex);
}

/** Returns the reason why RE2 rejects a pattern, without any part of the pattern. undefined: it accepts the pattern. */
export function patternError(regex: string): string | undefined {
  try {
    compiled(regex);
    return undefined;
  } catch (error) {
    if (regex.includes("\\C")) return undefined; // Any byte, which this engine does not have and that of Envoy has.
    const reason = error instanceof Error ? error.message : "";
    return /error parsing regexp: ([^:`]*)/.exec(reason)?.[1]?.trim() ?? "it does not parse";
  }
}

/** A prefix length above that of the address is accepted: Envoy reads it as the whole address. */
function* network(
  { addressPrefix }: { addressPrefix: string },
  { visited: { above } }: CheckScene,
): Iterable<EnvoyFinding> {
  // Envoy leaves out a trusted network that it cannot read.
  if (above?.message.desc.typeName === trustedNetworks) return;
  if (addressPrefix !== "" && isIP(addressPrefix) === 0)
    yield finding(
      ["address_prefix"],
      `${quote(addressPrefix)} is not an IP address`,
      "write the length of the network into prefix_len",
    );
}

function* ipv4Compat({
  address,
  ipv4Compat: isSet,
}: {
  address: string;
  ipv4Compat: boolean;
}): Iterable<EnvoyFinding> {
  if (isSet && isIP(address) === 4)
    yield finding(["ipv4_compat"], "needs an address of IPv6", 'the address may be "::"');
}

function* apiVersion(
  { transportApiVersion: version }: { transportApiVersion: number },
  { visited: { message, above } }: CheckScene,
): Iterable<EnvoyFinding> {
  const isSource = message.desc.typeName === "envoy.config.core.v3.ApiConfigSource";
  if (isSource && !subscribers.has(above?.message.desc.typeName ?? "")) return;
  if (version === version2) yield finding(["transport_api_version"], "must be V3");
}

const trustedNetworks = "envoy.extensions.http.original_ip_detection.xff.v3.XffTrustedCidrs";

/** `ApiType` of the Envoy API. */
const rest = 1;
const grpc = 2;
const deltaGrpc = 3;

/** Those who ask a source at once; load reports and health discovery do it later. */
const subscribers: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.ConfigSource",
  "envoy.config.bootstrap.v3.Bootstrap.DynamicResources",
]);

/** A source needs a service: of REST and the unaggregated gRPC types. */
function* services(
  {
    apiType,
    grpcServices,
    clusterNames,
  }: {
    apiType: number;
    grpcServices: readonly object[];
    clusterNames: readonly string[];
  },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (!subscribers.has(visited.above?.message.desc.typeName ?? "")) return;
  const isAggregated = apiType === 5 || apiType === 6;
  if (isAggregated) return;
  if (apiType === rest) {
    if (clusterNames.length !== 1)
      yield finding(["cluster_names"], "a source of type REST needs exactly one cluster name");
    if (grpcServices.length > 0)
      yield finding(["grpc_services"], "a source of type REST has no gRPC services");
    return;
  }
  if (apiType !== grpc && apiType !== deltaGrpc) {
    if (grpcServices.length > 0)
      yield finding(
        ["grpc_services"],
        "are for sources of type GRPC or DELTA_GRPC",
        "set api_type to GRPC",
      );
    return;
  }
  if (grpcServices.length === 0)
    yield finding(["grpc_services"], "a source of type GRPC or DELTA_GRPC needs one");
  if (grpcServices.length > 1) yield finding(["grpc_services", 1], "a source has one gRPC service");
  if (clusterNames.length > 0)
    yield finding(["cluster_names"], "are for sources of type REST", "use grpc_services");
}

function* statuses({
  expectedStatuses,
  retriableStatuses,
}: {
  expectedStatuses: readonly StatusRange[];
  retriableStatuses: readonly StatusRange[];
}): Iterable<EnvoyFinding> {
  for (const [field, list] of [
    ["expected_statuses", expectedStatuses],
    ["retriable_statuses", retriableStatuses],
  ] as const)
    for (const [index, range] of list.entries())
      if (range.start >= range.end)
        yield finding(
          [field, index],
          `is empty: start is ${range.start}, and end, which is not part of it, ${range.end}`,
        );
      else yield* bounds(range, [field, index]);
}

/** Envoy takes a range that is empty here. */
function* successes({
  httpSuccessStatus,
}: {
  httpSuccessStatus: readonly StatusRange[];
}): Iterable<EnvoyFinding> {
  for (const [index, range] of httpSuccessStatus.entries())
    if (range.start > range.end)
      yield finding(
        ["http_success_status", index],
        `has the start ${range.start} after the end ${range.end}`,
      );
    else yield* bounds(range, ["http_success_status", index]);
}

function* bounds(
  { start, end }: StatusRange,
  at: readonly (string | number)[],
): Iterable<EnvoyFinding> {
  if (start < 100n || start >= 600n || end > 600n)
    yield finding(at, "must lie between 100 and 600");
}
