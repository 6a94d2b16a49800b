import {
  type EnvoyCheck,
  envoyCheck,
  type EnvoyFinding,
  finding,
  type Oneof,
} from "../envoy-checks/envoy-check.ts";
import { quote } from "../folder-problem.ts";

const code = "rejected-by-grpc";

/** Checks of endpoints for gRPC clients. */
export const grpcEndpointChecks: readonly EnvoyCheck[] = [
  envoyCheck(code, "envoy.config.endpoint.v3.ClusterLoadAssignment", localities),
  envoyCheck(code, "envoy.config.endpoint.v3.ClusterLoadAssignment", addresses),
];

interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

interface SocketAddress {
  readonly address: string;
  readonly portSpecifier: Oneof<number | string>;
}

interface Group {
  readonly locality?: Locality;
  readonly priority: number;
  readonly loadBalancingWeight?: number;
  readonly lbEndpoints: readonly {
    readonly loadBalancingWeight?: number;
    readonly hostIdentifier: Oneof<{
      readonly address?: { readonly address: Oneof<SocketAddress> };
    }>;
  }[];
}

interface Assignment {
  readonly endpoints: readonly Group[];
}

const most = 0xffff_ffff;

/** Localities without weight are passed over. */
function used({ endpoints }: Assignment): readonly (readonly [index: number, group: Group])[] {
  return [...endpoints.entries()].filter(
    ([, { loadBalancingWeight = 0 }]) => loadBalancingWeight > 0,
  );
}

/** gRFC A27 and A56. */
function* localities(assignment: Assignment): Iterable<EnvoyFinding> {
  const seen = new Map<string, number>();
  const sums = new Map<number, number>();
  for (const [index, group] of used(assignment)) {
    const { locality, priority, loadBalancingWeight = 0 } = group;
    if (locality === undefined) {
      yield finding(["endpoints", index], "has no locality", "write locality: {}");
      continue;
    }
    const { region, zone, subZone } = locality;
    const key = JSON.stringify([priority, region, zone, subZone]);
    const first = seen.get(key);
    if (first !== undefined)
      yield finding(
        ["endpoints", index, "locality"],
        `is that of endpoints[${first}] too, with the same priority`,
        "put all endpoints of a locality into one entry",
      );
    seen.set(key, first ?? index);
    sums.set(priority, (sums.get(priority) ?? 0) + loadBalancingWeight);
  }
  for (const [priority, sum] of sums)
    if (sum > most)
      yield finding(["endpoints"], `the weights of priority ${priority} sum to more than ${most}`);
  const missing = Array.from({ length: sums.size }, (_, priority) => priority).find(
    (priority) => !sums.has(priority),
  );
  if (missing !== undefined)
    yield finding(
      ["endpoints"],
      `no locality with a weight has the priority ${missing}, but one has a higher number`,
      "number the priorities from 0 without a gap",
    );
}

/** gRFC A27. */
function* addresses(assignment: Assignment): Iterable<EnvoyFinding> {
  const seen = new Set<string>();
  for (const [index, { lbEndpoints }] of used(assignment))
    for (const [place, { loadBalancingWeight, hostIdentifier }] of lbEndpoints.entries()) {
      const at = ["endpoints", index, "lb_endpoints", place] as const;
      if (loadBalancingWeight === 0)
        yield finding([...at, "load_balancing_weight"], "must not be 0");
      const address =
        hostIdentifier.case === "endpoint" ? hostIdentifier.value?.address?.address : undefined;
      if (address?.case !== "socketAddress" || address.value === undefined) continue;
      const { address: host, portSpecifier } = address.value;
      const key = `${host}:${String(portSpecifier.value)}`;
      if (seen.has(key)) yield finding(at, `${quote(key)} is the address of another endpoint too`);
      seen.add(key);
    }
}
