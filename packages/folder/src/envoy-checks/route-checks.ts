import { quote } from "../folder-problem.ts";
import {
  type CheckScene,
  type DataSource,
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "./envoy-check.ts";
import { closestMessage } from "./visit-messages.ts";

const thrift = "envoy.extensions.filters.network.thrift_proxy.v3";

/** Checks of routes. */
export const routeChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-route", "envoy.config.route.v3.RouteConfiguration", domains),
  envoyCheck("bad-route", "envoy.config.route.v3.WeightedCluster", weights),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteAction", rewrites),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteAction", upgrades),
  envoyCheck("bad-route", "envoy.config.route.v3.DirectResponseAction", bodySize),
  envoyCheck("bad-route", `${thrift}.RouteMatch`, inverted),
  envoyCheck("bad-route", `${thrift}.ThriftProxy`, twoTables),
  envoyCheck(
    "bad-route",
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    upgrades,
  ),
];

/** Domains without regard to case, each in one virtual host only. */
function* domains({
  virtualHosts,
}: {
  virtualHosts: readonly { readonly domains: readonly string[] }[];
}): Iterable<EnvoyFinding> {
  const owners = new Map<string, number>();
  for (const [host, one] of virtualHosts.entries())
    for (const [index, domain] of one.domains.entries()) {
      const key = domain.toLowerCase();
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, host);
      else
        yield finding(
          ["virtual_hosts", host, "domains", index],
          `${quote(domain)} is a domain of virtual_hosts[${owner}] already`,
          "a domain may occur once in a route configuration",
        );
    }
}

function* weights({
  clusters,
}: {
  clusters: readonly { readonly weight?: number }[];
}): Iterable<EnvoyFinding> {
  const sum = clusters.reduce((all, { weight = 0 }) => all + weight, 0);
  if (clusters.length > 0 && sum === 0)
    yield finding(["clusters"], "the weights must sum to more than 0");
  else if (sum > 0xffff_ffff)
    yield finding(["clusters"], "the weights must sum to less than 4294967296");
}

function* rewrites({
  prefixRewrite,
  regexRewrite,
  pathRewritePolicy,
}: {
  prefixRewrite: string;
  regexRewrite?: object;
  pathRewritePolicy?: object;
}): Iterable<EnvoyFinding> {
  const set = [
    ...(prefixRewrite === "" ? [] : ["prefix_rewrite"]),
    ...(regexRewrite === undefined ? [] : ["regex_rewrite"]),
    ...(pathRewritePolicy === undefined ? [] : ["path_rewrite_policy"]),
  ];
  if (set.length > 1)
    yield finding([set[1] ?? ""], `cannot be set next to ${String(set[0])}`, "keep one of them");
}

function* upgrades({
  upgradeConfigs,
}: {
  upgradeConfigs: readonly { readonly upgradeType: string }[];
}): Iterable<EnvoyFinding> {
  const seen = new Set<string>();
  for (const [index, { upgradeType }] of upgradeConfigs.entries()) {
    const key = upgradeType.toLowerCase();
    if (seen.has(key))
      yield finding(["upgrade_configs", index], `the upgrade ${quote(upgradeType)} occurs again`);
    seen.add(key);
  }
}

/** Bytes of a body, where a route configuration does not set another limit. */
const maxBody = 4096;

function* bodySize(
  { body }: { body?: DataSource },
  { visited, files }: CheckScene,
): Iterable<EnvoyFinding> {
  const routes = closestMessage(visited, "envoy.config.route.v3.RouteConfiguration");
  const { specifier } = body ?? {};
  if (routes === undefined || specifier?.value === undefined) return;
  const { maxDirectResponseBodySizeBytes: limit = maxBody } = routes.message.message as {
    readonly maxDirectResponseBodySizeBytes?: number;
  };
  const [field, content] =
    specifier.case === "filename"
      ? ["filename", files?.read(String(specifier.value))]
      : specifier.case === "inlineString"
        ? ["inline_string", specifier.value]
        : specifier.case === "inlineBytes"
          ? ["inline_bytes", specifier.value]
          : ["", undefined];
  const size = typeof content === "string" ? Buffer.byteLength(content) : (content?.length ?? 0);
  if (size > limit)
    yield finding(
      ["body", field],
      `has ${size} bytes; the limit is ${limit}`,
      "raise max_direct_response_body_size_bytes of the route configuration",
    );
}

/** All methods, or all services, are not a match that can be inverted. */
function* inverted({
  invert,
  matchSpecifier: { case: form, value },
}: {
  invert: boolean;
  matchSpecifier: Oneof;
}): Iterable<EnvoyFinding> {
  if (!invert || value !== "") return;
  const field = form === "methodName" ? "method_name" : "service_name";
  yield finding([field], "must not be empty where invert is set");
}

function* twoTables({
  routeConfig,
  trds,
}: {
  routeConfig?: object;
  trds?: object;
}): Iterable<EnvoyFinding> {
  if (routeConfig !== undefined && trds !== undefined)
    yield finding(["trds"], "cannot be set next to route_config", "keep one of them");
}
