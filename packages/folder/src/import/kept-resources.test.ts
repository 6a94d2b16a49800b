import type { JsonObject } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { cluster } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import type { JsonResource } from "./json-resource.ts";
import { keptResources } from "./kept-resources.ts";

const registry = envoyRegistry();
const size = 20_000;
/** The name and the content of a resource may be read this often on average. An implementation that compares each resource with all others reads them 20,000 times. */
const readsPerResource = 30;

/** Clusters that count how often they are read, and reject more reads than the limit. */
function countedClusters(
  prefix: string,
  contentOf: (at: number) => JsonObject,
): readonly JsonResource[] {
  let reads = 0;
  const read = <T>(value: T): T => {
    reads++;
    if (reads > size * readsPerResource) throw new Error("the resources are read too often");
    return value;
  };
  return Array.from({ length: size }, (_, at) => {
    const name = `${prefix}-${at}`;
    const json = { name, ...contentOf(at) };
    return {
      type: cluster,
      get name() {
        return read(name);
      },
      get json() {
        return read(json);
      },
    };
  });
}

/** A cluster that refers to the next one. */
const aggregate = (at: number): JsonObject => ({
  cluster_type: {
    name: "envoy.clusters.aggregate",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
      clusters: [`chain-${at + 1}`],
    },
  },
});

const sinkTo = (name: string): JsonObject => ({
  stats_sinks: [
    {
      name: "envoy.stat_sinks.metrics_service",
      typed_config: {
        "@type": "type.googleapis.com/envoy.config.metrics.v3.MetricsServiceConfig",
        grpc_service: { envoy_grpc: { cluster_name: name } },
      },
    },
  ],
});

describe("keptResources()", () => {
  it(`follows a chain of ${size} clusters, and reads each a few times`, () => {
    const kept = keptResources({
      bootstrap: sinkTo("chain-0"),
      registry,
      fixed: countedClusters("chain", aggregate),
      dynamic: [],
    });
    expect(kept).toHaveLength(size);
    expect(kept.slice(0, 2).map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      "chain-0: stats_sinks[0].typed_config.grpc_service.envoy_grpc.cluster_name refers to it",
      'chain-1: cluster "chain-0": cluster_type.typed_config.clusters refers to it',
    ]);
  });

  it(`compares ${size} static clusters with ${size} served ones, and reads each a few times`, () => {
    const kept = keptResources({
      bootstrap: {},
      registry,
      fixed: countedClusters("static", () => ({})),
      dynamic: countedClusters("served", () => ({})),
    });
    expect(kept).toEqual([]);
  });
});
