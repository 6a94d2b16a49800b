import type { SeededRandom } from "@xdstp/testing";
import { stringify } from "yaml";
import type { GatewayRequest } from "./gateway-client.ts";

/** A random Gateway with one port, and its routes. */
export interface RandomGateway {
  readonly listeners: readonly RandomListener[];
  readonly routes: readonly RandomRoute[];
}

interface RandomListener {
  readonly name: string;
  /** undefined: all hosts. */
  readonly hostname: string | undefined;
}

interface RandomRoute {
  readonly name: string;
  readonly created: string | undefined;
  /** undefined: at all listeners. */
  readonly listener: string | undefined;
  readonly hostnames: readonly string[];
  readonly rules: readonly {
    readonly matches: readonly RandomMatch[];
    readonly backend: string;
  }[];
}

interface RandomMatch {
  readonly path: { readonly type: "Exact" | "PathPrefix"; readonly value: string } | undefined;
  readonly method: string | undefined;
  readonly headers: readonly Pair[];
  readonly queryParams: readonly Pair[];
}

interface Pair {
  readonly name: string;
  readonly value: string;
}

const listenerHosts = [undefined, "*.example", "a.example", "*.a.example", "*.b.example"];
const routeHosts = ["a.example", "*.example", "x.a.example", "*.a.example", "y.b.example", "other"];
const hosts = ["a.example", "x.a.example", "z.a.example", "y.b.example", "c.example", "other", "u"];
const paths = ["/", "/a", "/a/b", "/a/b/c", "/ab", "/b"];
const methods = ["GET", "POST"];
const values = ["1", "2"];
const keys = ["x-a", "x-b"];
const queryKeys = ["q", "r"];
const backends = ["a", "b", "c", "missing"];

/** A Gateway with up to four listeners and up to seven routes. */
export function randomGateway(random: SeededRandom): RandomGateway {
  const pick = pickFrom(random);
  const listeners = listenerHosts
    .filter(() => random.next() < 0.5)
    .map((hostname, at) => ({ name: `l${at}`, hostname }));
  const own = listeners.length === 0 ? [{ name: "l0", hostname: undefined }] : listeners;
  const routes = Array.from({ length: random.between(2, 7) }, (_, at): RandomRoute => {
    const year = 2020 + random.between(0, 2);
    return {
      name: `r${random.between(0, 9)}-${at}`,
      created: random.next() < 0.5 ? `${year}-01-01T00:00:00Z` : undefined,
      listener: random.next() < 0.4 ? pick(own).name : undefined,
      hostnames: routeHosts.filter(() => random.next() < 0.25),
      rules: Array.from({ length: random.between(1, 3) }, () => ({
        matches: Array.from({ length: random.between(0, 2) }, () => randomMatch(random)),
        backend: pick(backends),
      })),
    };
  });
  return { listeners: own, routes };
}

function randomMatch(random: SeededRandom): RandomMatch {
  const pick = pickFrom(random);
  const pairs = (names: readonly string[]): readonly Pair[] =>
    names.filter(() => random.next() < 0.25).map((name) => ({ name, value: pick(values) }));
  return {
    path:
      random.next() < 0.8
        ? { type: random.next() < 0.4 ? "Exact" : "PathPrefix", value: pick(paths) }
        : undefined,
    method: random.next() < 0.25 ? pick(methods) : undefined,
    headers: pairs(keys),
    queryParams: pairs(queryKeys),
  };
}

/** A request that some of the random routes match. */
export function randomGatewayRequest(random: SeededRandom): GatewayRequest {
  const pick = pickFrom(random);
  const query = queryKeys.filter(() => random.next() < 0.5).map((key) => `${key}=${pick(values)}`);
  const url = new URL(`http://${pick(hosts)}${pick(paths)}`);
  url.search = query.join("&");
  const headers = keys.filter(() => random.next() < 0.5).map((key) => [key, pick(values)]);
  return {
    method: pick(methods),
    url,
    headers: Object.fromEntries(headers) as Readonly<Record<string, string>>,
  };
}

function pickFrom(random: SeededRandom) {
  return <T>(items: readonly T[]): T => {
    const item = items[random.between(0, items.length - 1)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  };
}

/** The objects of Kubernetes. */
export function objectsOf({ listeners, routes }: RandomGateway): string {
  const apiVersion = "gateway.networking.k8s.io/v1";
  const gateway = {
    apiVersion,
    kind: "Gateway",
    metadata: { name: "edge", namespace: "shop" },
    spec: {
      gatewayClassName: "any",
      listeners: listeners.map((one) => ({ ...one, port: 80, protocol: "HTTP" })),
    },
  };
  const services = ["a", "b", "c"].map((name) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "shop" },
    spec: { ports: [{ port: 80 }] },
  }));
  const httpRoutes = routes.map(({ name, created, listener, hostnames, rules }) => ({
    apiVersion,
    kind: "HTTPRoute",
    metadata: { name, namespace: "shop", creationTimestamp: created },
    spec: {
      parentRefs: [{ name: "edge", sectionName: listener }],
      hostnames,
      rules: rules.map(({ matches, backend }) => ({
        matches,
        backendRefs: [{ name: backend, port: 80 }],
      })),
    },
  }));
  return [gateway, ...httpRoutes, ...services].map((object) => stringify(object)).join("---\n");
}

/**
 * Returns the outcome of a request by the text of the specification: a model that tries everything and shares nothing with the import.
 * It is the name of a backend, `500` for a backend that does not exist, or `404`.
 */
export function expectedBackend(
  { listeners, routes }: RandomGateway,
  request: GatewayRequest,
): string {
  const host = request.url.hostname;
  const [listener] = listeners
    .filter(({ hostname }) => hostname === undefined || isHost(hostname, host))
    .sort((one, other) => weightOf(other.hostname) - weightOf(one.hostname));
  if (listener === undefined) return "404";
  const candidates = routes
    .filter((route) => route.listener === undefined || route.listener === listener.name)
    .flatMap((route) => {
      const matching = route.hostnames.filter((hostname) => isHost(hostname, host));
      if (route.hostnames.length > 0 && matching.length === 0) return [];
      // The narrower hostname is what route and listener have in common.
      const specific = Math.max(weightOf(listener.hostname), ...matching.map(weightOf));
      return route.rules.flatMap((rule, ruleAt) =>
        (rule.matches.length === 0 ? [undefined] : rule.matches)
          .filter((match) => match === undefined || isMatch(match, request))
          .map((match) => ({ route, rule, ruleAt, specific, rank: rankOf(match) })),
      );
    });
  const [first] = candidates.sort(
    (one, other) =>
      other.specific - one.specific ||
      compare(other.rank, one.rank) ||
      compareTexts(one.route.created ?? "9999", other.route.created ?? "9999") ||
      compareTexts(one.route.name, other.route.name) ||
      one.ruleAt - other.ruleAt,
  );
  if (first === undefined) return "404";
  return first.rule.backend === "missing" ? "500" : `shop/${first.rule.backend}`;
}

function isHost(hostname: string, host: string): boolean {
  return hostname.startsWith("*.") ? host.endsWith(hostname.slice(1)) : hostname === host;
}

/** Exact hostnames are above all wildcards. */
function weightOf(hostname: string | undefined): number {
  if (hostname === undefined) return 0;
  return hostname.startsWith("*.") ? hostname.length : 1000 + hostname.length;
}

function isMatch(
  { path, method, headers, queryParams }: RandomMatch,
  request: GatewayRequest,
): boolean {
  const { pathname, searchParams } = request.url;
  const isPath =
    path === undefined ||
    pathname === path.value ||
    (path.type === "PathPrefix" && (path.value === "/" || pathname.startsWith(`${path.value}/`)));
  return (
    isPath &&
    (method === undefined || method === request.method) &&
    headers.every(({ name, value }) => request.headers[name] === value) &&
    queryParams.every(({ name, value }) => searchParams.get(name) === value)
  );
}

/** Exact paths, then the length of the path, a method, the number of headers and of query parameters. */
function rankOf(match: RandomMatch | undefined): readonly number[] {
  const path = match?.path ?? { type: "PathPrefix", value: "/" };
  return [
    path.type === "Exact" ? 1 : 0,
    path.value.length,
    match?.method === undefined ? 0 : 1,
    match?.headers.length ?? 0,
    match?.queryParams.length ?? 0,
  ];
}

function compare(one: readonly number[], other: readonly number[]): number {
  for (const [at, number] of one.entries()) {
    const difference = number - (other[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
