import type { JsonObject } from "@bufbuild/protobuf";
import type { BackendProtocol, Backends } from "./backends.ts";
import type { GatewayListener } from "./gateway-listeners.ts";
import {
  dangling,
  durationOf,
  field,
  integerOf,
  isSet,
  itemsOf,
  type KubernetesObject,
  notImported,
  type ObjectNode,
  reportUnread,
  reportWrong,
  rootOf,
} from "./object-node.ts";
import { filtersOf, headersAfter, millionth, type RouteFilters } from "./route-filters.ts";
import { grpcMatches, httpMatches, type RouteMatch } from "./route-matches.ts";

/** The routes of Envoy for one match of a rule. */
export interface MatchedRoutes {
  readonly match: RouteMatch;
  /** The routes in order. The last one takes all requests that match. */
  readonly routes: readonly JsonObject[];
}

/** The backends of a rule, with their shares of the requests. */
export interface WeightedBackends {
  /** The usable backends with a weight above 0. */
  readonly usable: readonly WeightedCluster[];
  /** The share of the requests for backends that cannot be used, from 0 to 1. */
  readonly lost: number;
}

interface WeightedCluster {
  readonly name: string;
  readonly weight: number;
  readonly reference: ObjectNode;
}

const maxWeight = 1_000_000;

/** Reads the backendRefs of a rule of any kind of route. */
export function weightedBackends(
  rule: ObjectNode,
  backends: Backends,
  protocol: BackendProtocol,
): WeightedBackends {
  const all = itemsOf(field(rule, "backendRefs")).map((reference) => {
    reportUnread(reference, ["group", "kind", "namespace", "name", "port", "weight", "filters"]);
    const weight = integerOf(field(reference, "weight"), 0, maxWeight) ?? 1;
    return { reference, weight, name: backends.clusterOf(reference, protocol) };
  });
  const total = sum(all);
  const usable = all.flatMap(({ name, weight, reference }) =>
    name === undefined || weight === 0 ? [] : [{ name, weight, reference }],
  );
  return { usable, lost: total === 0 ? 0 : (total - sum(usable)) / total };
}

function sum(weighted: readonly { readonly weight: number }[]): number {
  return weighted.reduce((all, { weight }) => all + weight, 0);
}

/** Returns the routes of an HTTPRoute or GRPCRoute at a listener, in the order of its rules. */
export function rulesOf(
  route: KubernetesObject,
  listener: GatewayListener,
  backends: Backends,
): readonly MatchedRoutes[] {
  const isGrpc = route.kind === "GRPCRoute";
  const protocol = isGrpc ? "grpc" : "http";
  return rulesIn(route).flatMap((rule, ruleAt) => {
    reportUnread(rule, isGrpc ? grpcFields : httpFields);
    const context = { listener, backends, protocol, isBackend: false } as const;
    const filters = filtersOf(field(rule, "filters"), context);
    const forwarding = forwardingOf(rule, filters, listener, backends, protocol);
    const matches = isGrpc ? grpcMatches(rule) : httpMatches(rule);
    return matches.map((match, matchAt) => ({
      match,
      routes: routesFor(match, filters, forwarding).map((json) => ({
        name: `${route.kind.toLowerCase()}/${route.namespace}/${route.name}/rule/${ruleAt}/match/${matchAt}`,
        ...json,
      })),
    }));
  });
}

/** Returns the rules of a route. An HTTPRoute without rules has one empty rule. */
function rulesIn(route: KubernetesObject): readonly ObjectNode[] {
  const list = field(rootOf(route), "spec", "rules");
  if (isSet(list) || route.kind !== "HTTPRoute") return itemsOf(list);
  return [{ ...list, value: {} }];
}

const grpcFields = ["name", "matches", "filters", "backendRefs"];
const httpFields = [...grpcFields, "timeouts", "retry"];

/** The action for the requests of a rule. */
interface Forwarding {
  /** Fields of the action. undefined: no backend is usable. */
  readonly to: JsonObject | undefined;
  /** The share of the requests that is answered with an error, from 0 to 1. */
  readonly lost: number;
  readonly failure: JsonObject;
  /** Fields of the route that change headers of forwarded requests. */
  readonly headers: JsonObject;
}

function forwardingOf(
  rule: ObjectNode,
  filters: RouteFilters,
  listener: GatewayListener,
  backends: Backends,
  protocol: BackendProtocol,
): Forwarding {
  // The Gateway API requires UNAVAILABLE for gRPC, and Envoy translates 503 to it.
  const failure: JsonObject = { direct_response: { status: protocol === "grpc" ? 503 : 500 } };
  const refs = field(rule, "backendRefs");
  const { usable, lost } = weightedBackends(rule, backends, protocol);
  if (filters.redirect !== undefined && itemsOf(refs).length > 0)
    notImported(refs, "the rule redirects all requests", "remove the filter or the backendRefs");
  const limits = timing(rule, protocol);
  if (usable.length === 0 && filters.redirect === undefined && !filters.isBroken)
    dangling(
      isSet(refs) ? refs : rule,
      "has no backend that can be used, so these requests are answered with an error",
      "refer to a Service, with a weight above 0",
    );
  const clusters = usable.map(({ name, weight, reference }) => {
    const own = filtersOf(field(reference, "filters"), {
      listener,
      backends,
      protocol,
      isBackend: true,
    });
    return { own, name, weight };
  });
  // Envoy applies the header changes of a route after those of its weighted clusters, so all changes are put into the weighted clusters.
  const isMerged = clusters.some(({ own }) => Object.keys(own.headers).length > 0);
  // Requests of a backend whose filter cannot be applied count as lost.
  const intact = clusters
    .filter(({ own }) => !own.isBroken)
    .map(({ own, name, weight }) => ({
      name,
      weight,
      ...(isMerged && headersAfter(filters.headers, own.headers)),
    }));
  const broken = sum(clusters.filter(({ own }) => own.isBroken));
  const all = sum(usable);
  const [only, ...more] = intact;
  const isPlain = only !== undefined && more.length === 0 && Object.keys(only).length === 2;
  const to = isPlain
    ? { cluster: only.name }
    : { weighted_clusters: { clusters: [...intact] satisfies JsonObject[] } };
  return {
    to: only && { ...to, ...limits },
    lost: lost + (all === 0 ? 0 : (1 - lost) * (broken / all)),
    failure,
    headers: isMerged ? {} : filters.headers,
  };
}

function routesFor(
  match: RouteMatch,
  filters: RouteFilters,
  { to, lost, failure, headers }: Forwarding,
): readonly JsonObject[] {
  const settings = Object.keys(filters.perFilter).length > 0 && {
    typed_per_filter_config: filters.perFilter,
  };
  const common = { ...filters.headers, ...settings };
  const { json } = match;
  if (filters.isBroken) return [{ match: json, ...failure, ...common }];
  if (filters.redirect !== undefined)
    return [{ match: json, redirect: filters.redirect(match), ...common }];
  if (to === undefined) return [{ match: json, ...failure, ...common }];
  const forwarded = {
    match: json,
    route: { ...to, ...filters.forward(match) },
    ...headers,
    ...settings,
  };
  if (lost === 0) return [forwarded];
  const part = { ...json, runtime_fraction: { default_value: millionth(lost) } };
  return [{ match: part, ...failure, ...common }, forwarded];
}

/** Timeouts and retries of a rule. */
function timing(rule: ObjectNode, protocol: BackendProtocol): JsonObject {
  const timeouts = field(rule, "timeouts");
  reportUnread(timeouts, ["request", "backendRequest"]);
  const request = durationOf(field(timeouts, "request"));
  const attempt = durationOf(field(timeouts, "backendRequest"));
  if (request !== undefined && request > 0 && (attempt ?? 0) > request)
    reportWrong(field(timeouts, "backendRequest"), "at most the timeout of the request");
  const retry = retryOf(field(rule, "retry"), attempt);
  // If each attempt has a limit and the request has none, all attempts together have no limit.
  const whole = request ?? (retry !== undefined && attempt !== undefined ? 0 : attempt);
  const limit =
    whole === undefined || attempt === undefined || retry !== undefined
      ? whole
      : shorter(whole, attempt);
  // A gRPC stream may stay open for days.
  if (limit === undefined)
    return protocol === "grpc" ? { timeout: "0s" } : { ...(retry && { retry_policy: retry }) };
  return { timeout: seconds(limit), ...(retry && { retry_policy: retry }) };
}

/** Returns the shorter of two limits. 0 means no limit. */
function shorter(one: number, other: number): number {
  return one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);
}

function retryOf(node: ObjectNode, attemptMs: number | undefined): JsonObject | undefined {
  if (!isSet(node)) return undefined;
  reportUnread(node, ["codes", "attempts", "backoff"]);
  const codes = itemsOf(field(node, "codes")).flatMap((code) => integerOf(code, 400, 599) ?? []);
  const attempts = integerOf(field(node, "attempts"), 0, 1000);
  const backoff = durationOf(field(node, "backoff"));
  const whole = codes.length === 0 ? "" : ",retriable-status-codes";
  return {
    retry_on: `connect-failure,reset${whole}`,
    num_retries: attempts ?? 1,
    ...(codes.length > 0 && { retriable_status_codes: codes }),
    ...(attemptMs !== undefined && attemptMs > 0 && { per_try_timeout: seconds(attemptMs) }),
    ...(backoff !== undefined &&
      backoff > 0 && {
        // The maximum that Envoy uses by default is ten times the base interval.
        retry_back_off: { base_interval: seconds(backoff), max_interval: seconds(backoff * 10) },
      }),
  };
}

function seconds(ms: number): string {
  return `${ms / 1000}s`;
}
