import type { JsonObject } from "@bufbuild/protobuf";
import type { AttachedRoute } from "./attached-routes.ts";
import type { Backends } from "./backends.ts";
import { type GatewayListener, titleOfListener } from "./gateway-listeners.ts";
import { bySpecificity, covering, createOwnerOf } from "./hostnames.ts";
import type { KubernetesObject } from "./object-node.ts";
import { byRank } from "./route-matches.ts";
import { type MatchedRoutes, rulesOf } from "./route-rules.ts";

/** A route with one of its hostnames, at a listener. */
interface HostedRoute extends Pick<AttachedRoute, "listener" | "route"> {
  readonly hostname: string;
  readonly rules: readonly MatchedRoutes[];
}

/**
 * The virtual hosts of listeners that share connections.
 * A host belongs to the listener with the most specific hostname, and to no other one. In it the routes with the more specific hostname have precedence, then the more specific match, the older route, its name, and the order of rules.
 */
export function virtualHosts(
  listeners: readonly GatewayListener[],
  /** The routes at these listeners, the older first. */
  attached: readonly AttachedRoute[],
  backends: Backends,
): JsonObject[] {
  const ownerOf = createOwnerOf(listeners);
  const hosted = attached.flatMap(({ listener, route, hostnames }): HostedRoute[] => {
    const rules = rulesOf(route, listener, backends);
    return hostnames
      .filter((hostname) => ownerOf(hostname)?.hostname === listener.hostname)
      .map((hostname) => ({ listener, route, hostname, rules }));
  });
  const byHostname = Map.groupBy(hosted, ({ hostname }) => hostname);
  // A listener without routes still has its hosts, so that the routes of another listener do not match them.
  const domains = new Set([...hosted, ...listeners].map(({ hostname }) => hostname));
  return [...domains].sort(bySpecificity).flatMap((domain) => {
    const owner = ownerOf(domain);
    const own = covering(domain)
      .flatMap((wide) => byHostname.get(wide) ?? [])
      .filter(({ listener }) => listener.hostname === owner?.hostname);
    if (owner === undefined) return [];
    const routes = routesIn(own);
    return [{ name: `${titleOfListener(owner)}/${domain}`, domains: [domain], routes }];
  });
}

/** In the order in which they are matched. Older routes come first already, and rules in their order. */
function routesIn(hosted: readonly HostedRoute[]): JsonObject[] {
  return [...hosted]
    .sort((one, other) => bySpecificity(one.hostname, other.hostname))
    .filter(isFirst())
    .flatMap((one) => one.rules.map((rule) => ({ ...one, ...rule })))
    .sort(
      (one, other) => bySpecificity(one.hostname, other.hostname) || byRank(one.match, other.match),
    )
    .flatMap(({ routes }) => routes);
}

/** A route with several hostnames that cover a host, or at several listeners of it, counts once, with the most specific hostname. */
function isFirst(): (hosted: HostedRoute) => boolean {
  const seen = new Set<KubernetesObject>();
  return ({ route }) => {
    const isNew = !seen.has(route);
    seen.add(route);
    return isNew;
  };
}
