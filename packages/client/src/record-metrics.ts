import type { Meter, ObservableResult } from "@opentelemetry/api";
import type { Cache } from "@xdstp/cache";
import type { ClientStatus, WantStatus } from "@xdstp/core/client";
import { authorityOf } from "@xdstp/uri";

import type { ServerChain } from "./server-chain.ts";

/** As much of a `Meter` of the OpenTelemetry API as is used. */
export type MetricsMeter = Pick<Meter, "createObservableCounter" | "createObservableGauge">;

/** What is measured. */
export interface MetricsHost {
  readonly meter: MetricsMeter;
  readonly cache: Cache;
  readonly chain: ServerChain;
  readonly target: string;
}

/** Measures a client with the names and labels of gRPC (C-GRPC-14). Returns a function that ends it. */
export function recordMetrics({ meter, cache, chain, target }: MetricsHost): () => void {
  const label = (name: string) => `grpc.${name}`;
  const perServer = (read: (status: ClientStatus) => number) => (result: ObservableResult): void => {
    for (const { name, status } of chain.status()) if (status !== undefined) result.observe(read(status), { [label("target")]: target, [label("xds.server")]: name });
  };
  const connected = perServer((status) => Number(status.connected && (status.responded || status.lastEnd === undefined)));
  const failures = perServer(({ counts }) => counts.failures);
  const valid = perServer(({ counts }) => counts.validResources);
  const invalid = perServer(({ counts }) => counts.invalidResources);
  const resources = (result: ObservableResult): void => {
    for (const [key, count] of countResources(cache, chain)) {
      const [authority, state, type] = JSON.parse(key) as [string, string, string];
      result.observe(count, { [label("target")]: target, [label("xds.authority")]: authority, [label("xds.cache_state")]: state, [label("xds.resource_type")]: type });
    }
  };
  const instruments = [
    [meter.createObservableGauge("grpc.xds_client.connected", { unit: "{bool}", description: "Whether the stream to the server works" }), connected],
    [meter.createObservableCounter("grpc.xds_client.server_failure", { unit: "{failure}", description: "Streams that ended without a response" }), failures],
    [meter.createObservableCounter("grpc.xds_client.resource_updates_valid", { unit: "{resource}", description: "Resources that were taken" }), valid],
    [meter.createObservableCounter("grpc.xds_client.resource_updates_invalid", { unit: "{resource}", description: "Resources that were refused" }), invalid],
    [meter.createObservableGauge("grpc.xds_client.resources", { unit: "{resource}", description: "Resources by state" }), resources],
  ] as const;
  for (const [instrument, observe] of instruments) instrument.addCallback(observe);
  return () => { for (const [instrument, observe] of instruments) instrument.removeCallback(observe); };
}

/** By authority (`#old`: opaque names), state and type. */
function countResources(cache: Cache, chain: ServerChain): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { status } of chain.status()) {
    for (const { typeUrl, wants } of status?.types ?? []) {
      for (const want of wants) {
        const held = cache.topic(typeUrl, want.interest).members().filter(({ resource }) => resource !== undefined).length;
        const key = JSON.stringify([authorityOf(want.interest.name) ?? "#old", cacheState(want, held > 0), typeUrl.replace("type.googleapis.com/", "")]);
        counts.set(key, (counts.get(key) ?? 0) + Math.max(1, held));
      }
    }
  }
  return counts;
}

/** The words of A78 and A88. */
function cacheState({ state, error }: WantStatus, isHeld: boolean): string {
  switch (state) {
    case "held": return "acked";
    case "refused": return isHeld ? "nacked_but_cached" : "nacked";
    case "missing": return "does_not_exist";
    case "timeout": return error?.code === "UNAVAILABLE" ? "timeout" : "does_not_exist";
    case "error": return errorState(error?.code, isHeld);
    case "requested": return isHeld ? "acked" : "requested";
  }
}

function errorState(code: string | undefined, isHeld: boolean): string {
  if (isHeld) return code === "NOT_FOUND" ? "does_not_exist_but_cached" : "received_error_but_cached";
  return "received_error";
}
