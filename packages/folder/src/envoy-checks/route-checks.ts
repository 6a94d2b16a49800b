import { quote } from "../folder-problem.ts";
import { type EnvoyCheck, envoyCheck, type EnvoyFinding, finding } from "./envoy-check.ts";

/** What Envoy rejects in routes. */
export const routeChecks: readonly EnvoyCheck[] = [
  envoyCheck("bad-route", "envoy.config.route.v3.RouteConfiguration", domains),
  envoyCheck("bad-route", "envoy.config.route.v3.WeightedCluster", weights),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteAction", rewrites),
  envoyCheck("bad-route", "envoy.config.route.v3.RouteAction", upgrades),
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
