import type { Attributes, Observable, ObservableResult } from "@opentelemetry/api";
import type { Clock, ResourceSource } from "@xdstp/core";
import type { StreamInfo, StreamStatus } from "@xdstp/protocol/server";
import type { EventHub, ServerEvent } from "./server-event.ts";
import type { MetricsMeter, ServerStats } from "./xds-server.ts";

/** The parts of a server that are measured. */
export interface MetricsHost {
  readonly meter: MetricsMeter;
  readonly hub: EventHub;
  readonly clock: Clock;
  readonly source: Pick<ResourceSource, "serves" | "revision">;
  readonly status: () => readonly StreamStatus[];
  readonly stats: () => ServerStats;
}

const seconds = {
  unit: "s",
  advice: { explicitBucketBoundaries: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30] },
};
const bytes = {
  unit: "By",
  advice: { explicitBucketBoundaries: [1e3, 1e4, 1e5, 1e6, 4e6, 1e7, 4e7] },
};

/**
 * Records the metrics of a server. Metrics that Istio has too use its names (`pilot_...`), so that
 * dashboards continue to work; the others begin with `xdstp_`.
 * No label has a value that a client chooses: there are no node ids, and only served types. Returns
 * a function that stops recording.
 */
export function recordMetrics(host: MetricsHost): () => void {
  const stopEvents = host.hub.listen(recorderOf(host));
  const stopGauges = observe(host);
  return () => {
    stopEvents();
    stopGauges();
  };
}

function recorderOf({ meter, clock, source }: MetricsHost): (event: ServerEvent) => void {
  const pushes = meter.createCounter("pilot_xds_pushes", {
    description: "Responses sent, by type",
  });
  const rejects = meter.createCounter("pilot_total_xds_rejects", {
    description: "Responses that clients rejected, by type",
  });
  const stale = meter.createCounter("pilot_xds_expired_nonce", {
    description: "Requests with a nonce that is not the newest, by type",
  });
  const sizes = meter.createHistogram("pilot_xds_config_size_bytes", {
    description: "Size of responses, by type",
    ...bytes,
  });
  const answers = meter.createHistogram("xdstp_answer_seconds", {
    description: "From a response to its ACK or NACK, by type",
    ...seconds,
  });
  const unsent = meter.createCounter("xdstp_unsent_resources_total", {
    description: "Resources that could not be sent to a client, by type and reason",
  });
  const rejected = meter.createCounter("xdstp_rejected_streams_total", {
    description: "Streams and Fetches turned away, by gRPC status",
  });
  const open = new WeakMap<StreamInfo, Map<string, number>>();
  const answered = (stream: StreamInfo, typeUrl: string, labels: Attributes): void => {
    const since = open.get(stream)?.get(typeUrl);
    if (since !== undefined) answers.record((clock.now() - since) / 1_000, labels);
    open.get(stream)?.delete(typeUrl);
  };
  const pushed = (stream: StreamInfo, typeUrl: string): void => {
    const types = open.get(stream) ?? new Map<string, number>();
    open.set(stream, types);
    if (!types.has(typeUrl)) types.set(typeUrl, clock.now());
  };
  return (event) => {
    if (event.kind === "rejected") rejected.add(1, { code: event.status.code });
    if (!("stream" in event) || !("typeUrl" in event)) return;
    const { stream, typeUrl } = event;
    const labels = { type: typeLabel(source, typeUrl) };
    switch (event.kind) {
      case "push":
        pushes.add(1, labels);
        sizes.record(event.bytes, labels);
        pushed(stream, typeUrl);
        break;
      case "nack":
        rejects.add(1, labels);
        answered(stream, typeUrl, labels);
        break;
      case "ack":
        answered(stream, typeUrl, labels);
        break;
      case "stale-nonce":
        stale.add(1, labels);
        break;
      case "not-sent":
        for (const { reason } of event.resources) unsent.add(1, { ...labels, reason });
        break;
      default:
    }
  };
}

/** Registers values that are read only when metrics are collected. */
function observe({ meter, source, status, stats }: MetricsHost): () => void {
  const stops: (() => void)[] = [];
  const add = (observable: Observable, read: (result: ObservableResult) => void): void => {
    observable.addCallback(read);
    stops.push(() => {
      observable.removeCallback(read);
    });
  };
  add(
    meter.createObservableGauge("pilot_xds", { description: "Streams that are open, by variant" }),
    (result) => {
      for (const [variant, streams] of Map.groupBy(status(), (stream) => stream.variant))
        result.observe(streams.length, { variant });
    },
  );
  add(
    meter.createObservableGauge("xdstp_types", {
      description:
        "Types on streams, by type and state: SYNCED, STALE, NACKED, NOT_SENT, REQUESTED",
    }),
    (result) => {
      const rows = status().flatMap(({ types }) =>
        types.map(({ typeUrl, state }) => ({ type: typeLabel(source, typeUrl), state })),
      );
      for (const same of Map.groupBy(rows, ({ type, state }) => `${state} ${type}`).values())
        if (same[0] !== undefined) result.observe(same.length, { ...same[0] });
    },
  );
  add(
    meter.createObservableGauge("xdstp_stuck_types", {
      description: "Types on streams whose client has not answered for too long",
    }),
    (result) => {
      result.observe(
        status()
          .flatMap(({ types }) => types)
          .filter(({ stuck }) => stuck).length,
      );
    },
  );
  add(
    meter.createObservableGauge("xdstp_connections", { description: "Connections that are open" }),
    (result) => {
      result.observe(stats().wire.connections);
    },
  );
  add(
    meter.createObservableGauge("xdstp_revision", {
      description: "The newest revision of what is served",
    }),
    (result) => {
      result.observe(source.revision);
    },
  );
  add(
    meter.createObservableCounter("xdstp_cuts_total", {
      description: "Connections and streams cut, by reason",
    }),
    (result) => {
      for (const [reason, count] of Object.entries(stats().wire.cuts))
        result.observe(count, { reason });
    },
  );
  add(
    meter.createObservableCounter("xdstp_limits_total", {
      description: "How often a limit of the streams was met, by its name",
    }),
    (result) => {
      for (const [limit, count] of Object.entries(stats().limits)) result.observe(count, { limit });
    },
  );
  add(
    meter.createObservableCounter("xdstp_full_connections_total", {
      description: "How often a connection had all the calls open that one may have",
    }),
    (result) => {
      result.observe(stats().wire.connectionsFilled);
    },
  );
  add(
    meter.createObservableCounter("xdstp_rejected_answers_total", {
      description: "Fetches and status requests turned away since too many waited, by kind",
    }),
    (result) => {
      for (const [kind, { rejected }] of Object.entries(stats().answers))
        result.observe(rejected, { kind });
    },
  );
  add(
    meter.createObservableGauge("xdstp_waiting_answers", {
      description: "Fetches and status requests that wait for their answer, by kind",
    }),
    (result) => {
      for (const [kind, { waiting }] of Object.entries(stats().answers))
        result.observe(waiting, { kind });
    },
  );
  add(
    meter.createObservableGauge("xdstp_waiting_streams", {
      description: "Streams that wait until they may begin",
    }),
    (result) => {
      result.observe(stats().admission.waiting);
    },
  );
  add(
    meter.createObservableCounter("xdstp_frames_total", {
      description: "Responses by how they were made: encoded, shared with others, stamped again",
    }),
    (result) => {
      for (const [made, count] of Object.entries(stats().frames)) result.observe(count, { made });
    },
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/**
 * Returns the label of a type. A client may request any type URL, so only served types have a label
 * of their own.
 */
function typeLabel(source: MetricsHost["source"], typeUrl: string): string {
  return source.serves(typeUrl) ? typeUrl.slice(typeUrl.lastIndexOf("/") + 1) : "other";
}
