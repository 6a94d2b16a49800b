import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  type Extension,
  finding,
  type Oneof,
  typeOfExtension,
} from "../envoy-checks/envoy-check.ts";
import { closestMessage } from "../envoy-checks/visit-messages.ts";
import { quote } from "../folder-problem.ts";
import { type ConfigSource, isOwnStream } from "./config-source.ts";

const code = "rejected-by-grpc";
const listenerType = "envoy.config.listener.v3.Listener";
const managerType =
  "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/** Checks of listeners for gRPC clients. */
export const grpcListenerChecks: readonly EnvoyCheck[] = [
  envoyCheck(code, listenerType, apiListener),
  envoyCheck(code, managerType, manager),
  envoyCheck(code, managerType, filters),
];

interface Listener {
  readonly apiListener?: { readonly apiListener?: { readonly typeUrl: string } };
  readonly filterChains: readonly unknown[];
  readonly defaultFilterChain?: object;
}

/** gRFC A27: what a client of a service reads; and A36: what a server with filter chains reads. */
function* apiListener(listener: Listener): Iterable<EnvoyFinding> {
  const { apiListener: api, filterChains, defaultFilterChain } = listener;
  if (api === undefined) {
    if (filterChains.length === 0 && defaultFilterChain === undefined)
      yield finding([], "a listener needs api_listener, or for servers filter_chains");
    return;
  }
  const typeUrl = api.apiListener?.typeUrl ?? "";
  if (typeUrl.slice(typeUrl.lastIndexOf("/") + 1) !== managerType)
    yield finding(
      ["api_listener", "api_listener"],
      "is not an HttpConnectionManager",
      `write "@type": type.googleapis.com/${managerType}`,
    );
}

interface Manager {
  readonly routeSpecifier: Oneof<{
    readonly configSource?: ConfigSource;
  }>;
  readonly xffNumTrustedHops: number;
  readonly originalIpDetectionExtensions: readonly unknown[];
}

/** gRFC A27 and A41. */
function* manager(one: Manager): Iterable<EnvoyFinding> {
  const { routeSpecifier: routes, xffNumTrustedHops, originalIpDetectionExtensions } = one;
  if (routes.case === "rds") {
    if (!isOwnStream(routes.value?.configSource))
      yield finding(
        ["rds", "config_source"],
        "is not the stream of the client",
        "set config_source to { ads: {} } or { self: {} }",
      );
  } else if (routes.case !== "routeConfig")
    yield finding([], "has neither rds nor route_config, from which gRPC takes its routes");
  if (xffNumTrustedHops !== 0) yield finding(["xff_num_trusted_hops"], "has to be 0");
  if (originalIpDetectionExtensions.length > 0)
    yield finding(["original_ip_detection_extensions"], "has to be empty");
}

const filterTypes = "envoy.extensions.filters.http";
const router = `${filterTypes}.router.v3.Router`;

/** Filters that at least one of the gRPC libraries has. */
const known: ReadonlySet<string> = new Set([
  router,
  `${filterTypes}.fault.v3.HTTPFault`,
  `${filterTypes}.rbac.v3.RBAC`,
  `${filterTypes}.stateful_session.v3.StatefulSession`,
  `${filterTypes}.gcp_authn.v3.GcpAuthnFilterConfig`,
  `${filterTypes}.composite.v3.Composite`,
  "envoy.extensions.common.matching.v3.ExtensionWithMatcher",
  `${filterTypes}.ext_authz.v3.ExtAuthz`,
  `${filterTypes}.ext_proc.v3.ExternalProcessor`,
  `${filterTypes}.rate_limit_quota.v3.RateLimitQuotaFilterConfig`,
]);

/** Messages that hold a configuration of a type that is not of protobuf. */
const structs: ReadonlySet<string | undefined> = new Set([
  "xds.type.v3.TypedStruct",
  "udpa.type.v1.TypedStruct",
  undefined,
]);

interface HttpFilter extends Extension {
  readonly isOptional: boolean;
}

/** gRFC A39. */
function* filters(
  { httpFilters }: { readonly httpFilters: readonly HttpFilter[] },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  const isForServer = closestMessage(visited, "envoy.config.listener.v3.FilterChain") !== undefined;
  const read = httpFilters.map((filter) => ({ ...filter, type: typeOfExtension(filter) }));
  const names = new Map<string, number>();
  for (const [index, { name, type, isOptional }] of read.entries()) {
    const at = ["http_filters", index] as const;
    const first = names.get(name);
    if (name === "") yield finding(at, "has no name");
    else if (first !== undefined)
      yield finding([...at, "name"], `${quote(name)} is the name of http_filters[${first}] too`);
    names.set(name, first ?? index);
    if (!structs.has(type) && !known.has(type ?? "") && !isOptional)
      yield finding(
        at,
        `${String(type)} is a filter that no gRPC library has`,
        "remove it for gRPC, or set is_optional",
      );
    if (type === router && index < read.length - 1)
      yield finding(at, "the router must be the last filter", "move it to the end");
  }
  const last = read.at(-1);
  if (last === undefined)
    yield finding(
      [],
      "has no http_filters",
      `add the router, ${router}${isForServer ? ", for servers too" : ""}`,
    );
  else if (last.type !== router && !structs.has(last.type) && known.has(last.type ?? ""))
    yield finding(["http_filters", read.length - 1], "the last filter must be the router");
}
