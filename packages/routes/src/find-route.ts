import {
  type RouteConfiguration,
  type VirtualHost,
  VirtualHost_TlsRequirementType,
} from "@xdstp/protos/envoy/route";
import { checkMatch } from "./check-match.ts";
import { findVirtualHost } from "./find-virtual-host.ts";
import { outcomeOf, type RouteOutcome } from "./outcome-of.ts";
import { type ReadRequest, readRequest, type RouteRequest } from "./route-request.ts";

/** A route that was compared with the request. */
export interface TriedRoute {
  /** The position of the route in its virtual host, from 0. */
  readonly index: number;
  /** The name of the route. Empty if it has none. */
  readonly name: string;
  /**
   * The result of the comparison. `maybe`: the request alone does not decide, but for example a
   * share of the requests, a runtime key, metadata or an extension.
   */
  readonly match: "yes" | "no" | "maybe";
  /** The reasons why the route does not match, or may not match. Empty for `yes`. */
  readonly reasons: readonly string[];
  /** The action of the route for this request. Absent for `no`. */
  readonly outcome?: RouteOutcome;
}

/** The route that takes a request, and how it was found. */
export interface FoundRoute {
  /**
   * The virtual host of the request. Undefined if no domain matches; Envoy then answers with 404.
   */
  readonly virtualHost: { readonly name: string; readonly domain: string } | undefined;
  /**
   * The redirect to https by the `require_tls` of the virtual host. Envoy sends it before it tries
   * any route.
   */
  readonly redirect?: RouteOutcome;
  /**
   * The routes in order, up to the first one that surely matches. The routes after that one are not
   * tried.
   */
  readonly tried: readonly TriedRoute[];
  /**
   * The last route of `tried`, if it surely matches. If undefined, Envoy answers with 404, unless a
   * route with `maybe` matches.
   */
  readonly route: TriedRoute | undefined;
  /**
   * Parts of the configuration that may lead to another route and are not evaluated, one clause
   * each.
   */
  readonly notes: readonly string[];
}

/**
 * Finds the route of a request in the same way as Envoy's router: it finds the virtual host by the
 * host of the request, and then the first route that matches. It never throws. A regular expression
 * that is not valid gives `maybe`.
 *
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/route_matching
 */
export function findRoute(config: RouteConfiguration, request: RouteRequest): FoundRoute {
  const read = readRequest(request);
  const found = findVirtualHost(config, read);
  if (found === undefined)
    return { virtualHost: undefined, tried: [], route: undefined, notes: notesOf(config) };
  const { virtualHost, domain } = found;
  const result = {
    virtualHost: { name: virtualHost.name, domain },
    notes: notesOf(config, virtualHost),
  };
  if (needsTls(virtualHost, read)) {
    // The redirect keeps the port, unlike a redirect by `https_redirect` of a route.
    const location = `https://${read.authority}${read.path}`;
    return {
      ...result,
      redirect: { kind: "redirect", status: 301, location },
      tried: [],
      route: undefined,
    };
  }
  const tried = tryRoutes(config, virtualHost, read);
  const last = tried.at(-1);
  return { ...result, tried, route: last?.match === "yes" ? last : undefined };
}

function tryRoutes(
  config: RouteConfiguration,
  virtualHost: VirtualHost,
  request: ReadRequest,
): readonly TriedRoute[] {
  const tried: TriedRoute[] = [];
  for (const [index, route] of virtualHost.routes.entries()) {
    const findings = checkMatch(route.match, request, config);
    const failed = findings.filter(({ verdict }) => verdict === "no");
    const match = failed.length > 0 ? "no" : findings.length > 0 ? "maybe" : "yes";
    tried.push({
      index,
      name: route.name,
      match,
      reasons: (failed.length > 0 ? failed : findings).map(({ reason }) => reason),
      ...(match !== "no" && { outcome: outcomeOf(route, request) }),
    });
    if (match === "yes") break;
  }
  return tried;
}

/**
 * Returns true if the virtual host redirects the request to https. Envoy recognizes an internal
 * request by the address of the client; this function looks for the header that Envoy then sets.
 */
function needsTls({ requireTls }: VirtualHost, { scheme, headers }: ReadRequest): boolean {
  if (scheme === "https" || requireTls === VirtualHost_TlsRequirementType.NONE) return false;
  return (
    requireTls === VirtualHost_TlsRequirementType.ALL ||
    headers.get("x-envoy-internal")?.[0] !== "true"
  );
}

function notesOf(config: RouteConfiguration, virtualHost?: VirtualHost): readonly string[] {
  return [
    ...(config.vhds !== undefined && virtualHost === undefined
      ? ["the virtual host may come on demand, by VHDS"]
      : []),
    ...(virtualHost?.matcher !== undefined
      ? ["the virtual host chooses by a matcher tree, which is not evaluated"]
      : []),
    ...([...config.routeSpecifiers, ...(virtualHost?.routeSpecifiers ?? [])].length > 0
      ? ["route_specifiers may choose another route, and are not evaluated"]
      : []),
  ];
}
