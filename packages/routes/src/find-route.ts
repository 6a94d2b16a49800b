import {
  type RouteConfiguration,
  type VirtualHost,
  VirtualHost_TlsRequirementType,
} from "@xdstp/protos/envoy/route";
import { checkMatch } from "./check-match.ts";
import { findVirtualHost } from "./find-virtual-host.ts";
import { outcomeOf, type RouteOutcome } from "./outcome-of.ts";
import { type ReadRequest, readRequest, type RouteRequest } from "./route-request.ts";

/** A route that was tried. */
export interface TriedRoute {
  /** The place of the route in its virtual host, from 0. */
  readonly index: number;
  /** Empty where the route has none. */
  readonly name: string;
  /** `maybe`: what a request does not show decides, such as a share of the requests, a runtime key, metadata or an extension. */
  readonly match: "yes" | "no" | "maybe";
  /** Why it does not match, or what decides; empty after `yes`. */
  readonly reasons: readonly string[];
  /** What it does with the request. Absent after `no`. */
  readonly outcome?: RouteOutcome;
}

/** Which route takes a request. */
export interface FoundRoute {
  /** Undefined where no domain matches: Envoy answers 404. */
  readonly virtualHost: { readonly name: string; readonly domain: string } | undefined;
  /** The redirect to https of a virtual host with `require_tls`, which is before all routes. */
  readonly redirect?: RouteOutcome;
  /** The routes in order, up to the first that surely matches. Those after it are not tried. */
  readonly tried: readonly TriedRoute[];
  /** The last of `tried` where it surely matches. Undefined: Envoy answers 404, unless one that is `maybe` matches. */
  readonly route: TriedRoute | undefined;
  /** What may lead to another route and is not evaluated, a clause each. */
  readonly notes: readonly string[];
}

/**
 * Finds the route of a request as Envoy's router does: the virtual host by the host, then the first route that matches. It never throws; a regular expression that is not valid gives `maybe`.
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
    // The port stays, unlike with `https_redirect` of a route.
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

/** Envoy knows an internal request by the address of the client; here the header says so that Envoy itself would set. */
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
