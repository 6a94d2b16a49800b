import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
} from "./envoy-check.ts";

/** Checks of lists of headers that are set or removed. */
export const headerChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-header", "envoy.config.core.v3.HeaderValueOption", setHeader),
  envoyCheck(
    "bad-header",
    "envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest",
    sentHeaders,
  ),
  ...["RouteConfiguration", "VirtualHost", "Route", "WeightedCluster.ClusterWeight"].map((type) =>
    envoyCheck("bad-header", `envoy.config.route.v3.${type}`, removedHeaders),
  ),
];

const hint = "headers that begin with a colon, and host, are changed by settings of the route";

/** Pseudo headers of HTTP/2, and `host`, which is one of them there. */
function isProtected(name: string): boolean {
  return name.startsWith(":") || name.toLowerCase() === "host";
}

/** Messages whose headers Envoy sends as they are, or checks later. */
const unchecked: ReadonlySet<string> = new Set([
  "envoy.config.core.v3.HttpService",
  "envoy.extensions.bootstrap.reverse_tunnel.downstream_socket_interface.v3.DownstreamReverseConnectionSocketInterface.HttpHandshakeConfig",
  "envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig",
  "envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings.DenyResponseSettings",
]);

function* setHeader(
  { header }: { header?: { readonly key: string } },
  { visited }: CheckScene,
): Iterable<EnvoyFinding> {
  if (unchecked.has(visited.above?.message.desc.typeName ?? "")) return;
  if (header !== undefined && isProtected(header.key))
    yield finding(["header", "key"], `${quote(header.key)} cannot be set in this way`, hint);
}

function* sentHeaders({
  headersToAdd,
}: {
  headersToAdd: readonly { readonly key: string }[];
}): Iterable<EnvoyFinding> {
  for (const [index, { key }] of headersToAdd.entries())
    if (isProtected(key))
      yield finding(
        ["headers_to_add", index, "key"],
        `${quote(key)} cannot be set in this way`,
        hint,
      );
}

function* removedHeaders({
  requestHeadersToRemove,
  responseHeadersToRemove,
}: {
  requestHeadersToRemove: readonly string[];
  responseHeadersToRemove: readonly string[];
}): Iterable<EnvoyFinding> {
  for (const [field, names] of [
    ["request_headers_to_remove", requestHeadersToRemove],
    ["response_headers_to_remove", responseHeadersToRemove],
  ] as const)
    for (const [index, name] of names.entries())
      if (isProtected(name)) yield finding([field, index], `${quote(name)} cannot be removed`);
}
