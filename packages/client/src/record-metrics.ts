import type { Attributes, ObservableResult } from "@opentelemetry/api";
import type { ClientNotice, FederationServerStatus } from "@xdstp/federation";
import { authorityOf } from "@xdstp/uri";

import type { ClientOptions } from "./client-options.ts";
import { allRows, type Fed, type StatusRow } from "./client-status.ts";

/** The parameters of `recordMetrics`. */
export interface MetricsHost {
  readonly meter: NonNullable<ClientOptions["meter"]>;
  /** Returns each server once. */
  readonly servers: () => readonly FederationServerStatus[];
  readonly caches: Iterable<Fed>;
  readonly target: string;
}

/** The metrics of one client. */
export interface Metrics {
  /** Counts an event of a stream. If a server comes into use again, its counters continue. */
  note(event: ClientNotice): void;
  end(): void;
}

const label = (name: string): string => `grpc.${name}`;

/** Records the metrics of a client with the names and labels of gRPC (C-GRPC-14). */
export function recordMetrics({ meter, servers, caches, target }: MetricsHost): Metrics {
  const targeted = { [label("target")]: target };
  const [failures, valid, invalid] = [
    createCounter(targeted),
    createCounter(targeted),
    createCounter(targeted),
  ];
  const connected = (result: ObservableResult): void => {
    for (const { name, status, failure } of servers())
      if (status !== undefined && status.counts.streams > 0)
        result.observe(Number(failure === undefined), { ...targeted, [label("xds.server")]: name });
  };
  const resources = (result: ObservableResult): void => {
    const counts = createCounter(targeted);
    for (const row of allRows(caches))
      counts.add(1, {
        [label("xds.authority")]: authorityOf(row.name) ?? "#old",
        [label("xds.cache_state")]: cacheState(row),
        [label("xds.resource_type")]: typeName(row.typeUrl),
      });
    counts.observe(result);
  };
  const instruments = [
    [
      meter.createObservableGauge("grpc.xds_client.connected", {
        unit: "{bool}",
        description: "Whether the stream to the server works",
      }),
      connected,
    ],
    [
      meter.createObservableCounter("grpc.xds_client.server_failure", {
        unit: "{failure}",
        description: "Streams that ended without a response",
      }),
      failures.observe,
    ],
    [
      meter.createObservableCounter("grpc.xds_client.resource_updates_valid", {
        unit: "{resource}",
        description: "Resources that were taken",
      }),
      valid.observe,
    ],
    [
      meter.createObservableCounter("grpc.xds_client.resource_updates_invalid", {
        unit: "{resource}",
        description: "Resources that were rejected",
      }),
      invalid.observe,
    ],
    [
      meter.createObservableGauge("grpc.xds_client.resources", {
        unit: "{resource}",
        description: "Resources by state",
      }),
      resources,
    ],
  ] as const;
  for (const [instrument, observe] of instruments) instrument.addCallback(observe);
  return {
    note(event) {
      const server = { [label("xds.server")]: event.server };
      if (event.kind === "opened") failures.add(0, server);
      if (event.kind === "closed" && !event.responded) failures.add(1, server);
      if (event.kind !== "accepted" && event.kind !== "rejected") return;
      const typed = { ...server, [label("xds.resource_type")]: typeName(event.typeUrl) };
      const bad = event.kind === "rejected" ? event.names.length + (event.unnamed ?? 0) : 0;
      invalid.add(bad, typed);
      valid.add(event.kind === "rejected" ? (event.taken ?? 0) : event.resources, typed);
    },
    end() {
      for (const [instrument, observe] of instruments) instrument.removeCallback(observe);
    },
  };
}

/** Sums by attributes. */
interface Counter {
  readonly add: (count: number, attributes: Attributes) => void;
  readonly observe: (result: ObservableResult) => void;
}

function createCounter(shared: Attributes): Counter {
  const sums = new Map<string, { readonly attributes: Attributes; sum: number }>();
  return {
    add: (count, attributes) => {
      const key = JSON.stringify(attributes);
      const known = sums.get(key);
      if (known === undefined)
        sums.set(key, { attributes: { ...shared, ...attributes }, sum: count });
      else known.sum += count;
    },
    observe: (result) => {
      for (const { attributes, sum } of sums.values()) result.observe(sum, attributes);
    },
  };
}

function typeName(typeUrl: string): string {
  return typeUrl.replace("type.googleapis.com/", "");
}

/** Returns the state of a resource as A78 and A88 name it. */
function cacheState({ state, resource }: StatusRow): string {
  return resource === undefined || state === "acked" ? state : `${state}_but_cached`;
}
