import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "../envoy-checks/envoy-check.ts";

const code = "rejected-by-grpc";

/** Checks of routes for gRPC clients. */
export const grpcRouteChecks: readonly EnvoyCheck[] = [
  envoyCheck(code, "envoy.config.route.v3.Route", route),
  envoyCheck(code, "envoy.config.route.v3.WeightedCluster", weights),
  envoyCheck(code, "envoy.config.route.v3.RetryPolicy", retries),
];

interface Route {
  readonly match?: { readonly pathSpecifier: Oneof; readonly queryParameters: readonly unknown[] };
}

const paths: ReadonlySet<string | undefined> = new Set(["prefix", "path", "safeRegex"]);

/** gRFC A28. A route with query parameters is passed over. */
function* route({ match }: Route): Iterable<EnvoyFinding> {
  if (match === undefined) {
    yield finding([], "a route needs a match");
    return;
  }
  if (match.queryParameters.length === 0 && !paths.has(match.pathSpecifier.case))
    yield finding(
      ["match"],
      "has no path that gRPC matches",
      "set prefix, path or safe_regex; prefix: / matches every method",
    );
}

/** gRFC A28. */
function* weights({
  clusters,
}: {
  readonly clusters: readonly { readonly weight?: number }[];
}): Iterable<EnvoyFinding> {
  const sum = clusters.reduce((all, { weight = 0 }) => all + weight, 0);
  if (sum === 0) yield finding(["clusters"], "the weights must sum to more than 0");
}

interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

interface RetryPolicy {
  readonly numRetries?: number;
  readonly retryBackOff?: { readonly baseInterval?: Duration; readonly maxInterval?: Duration };
}

/** gRFC A44. */
function* retries({ numRetries, retryBackOff }: RetryPolicy): Iterable<EnvoyFinding> {
  if (numRetries === 0) yield finding(["num_retries"], "has to be at least 1");
  if (retryBackOff === undefined) return;
  const { baseInterval, maxInterval } = retryBackOff;
  if (baseInterval === undefined || nanosOf(baseInterval) <= 0n)
    yield finding(["retry_back_off"], "base_interval has to be more than 0s");
  else if (maxInterval !== undefined && nanosOf(maxInterval) < nanosOf(baseInterval))
    yield finding(["retry_back_off", "max_interval"], "is less than base_interval");
}

function nanosOf({ seconds, nanos }: Duration): bigint {
  return seconds * 1_000_000_000n + BigInt(nanos);
}
