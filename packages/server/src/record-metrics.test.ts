import type { Attributes, ObservableCallback } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import { readyCache, serve, types, variants } from "../test/harness.ts";
import type { MetricsMeter } from "./xds-server.ts";

interface TestMeter {
  readonly meter: MetricsMeter;
  /** The recorded values, as `name{labels} value`, in order. */
  readonly recorded: string[];
  /** The values that are computed when the meter collects them. */
  readonly observed: () => readonly string[];
  readonly callbacks: () => number;
}

function useMeter(): TestMeter {
  const recorded: string[] = [];
  const reads = new Map<string, Set<ObservableCallback>>();
  const line = (name: string, value: number, labels: Attributes = {}): string =>
    `${name}{${Object.values(labels).join(" ")}} ${value}`;
  const instrument = (name: string) => ({
    add: (value: number, labels?: Attributes) => {
      recorded.push(line(name, value, labels));
    },
    record: (value: number, labels?: Attributes) => {
      recorded.push(line(name, value, labels));
    },
  });
  const observable = (name: string) => {
    const callbacks = new Set<ObservableCallback>();
    reads.set(name, callbacks);
    return {
      addCallback: (read: ObservableCallback) => {
        callbacks.add(read);
      },
      removeCallback: (read: ObservableCallback) => {
        callbacks.delete(read);
      },
    };
  };
  return {
    recorded,
    meter: {
      createCounter: instrument,
      createHistogram: instrument,
      createObservableCounter: observable,
      createObservableGauge: observable,
    } as MetricsMeter,
    callbacks: () => [...reads.values()].reduce((sum, { size }) => sum + size, 0),
    observed() {
      const lines: string[] = [];
      for (const [name, callbacks] of reads)
        for (const read of callbacks)
          void read({
            observe: (value: number, labels?: Attributes) => {
              lines.push(line(name, value, labels));
            },
          });
      return lines;
    },
  };
}

const cluster = "envoy.config.cluster.v3.Cluster";

describe.each(variants)("metrics of a server (%s)", (variant) => {
  it(`count what is sent, accepted and rejected, by type, with sizes and times (${variant})`, () => {
    const { meter, recorded } = useMeter();
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { open, turn, clock } = serve(cache, { meter });
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    clock.advance(250);
    call.ack(call.next());
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "bad") });
    turn();
    const bad = call.next();
    clock.advance(500);
    call.nack(bad, "no");
    call.ack({ ...bad, nonce: "1" });
    const kinds = recorded.map((text) =>
      text.replace(/^(pilot_xds_config_size_bytes\{\S+\}) \d+$/, "$1 n"),
    );
    expect(kinds).toEqual([
      `pilot_xds_pushes{${cluster}} 1`,
      `pilot_xds_config_size_bytes{${cluster}} n`,
      `xdstp_answer_seconds{${cluster}} 0.25`,
      `pilot_xds_pushes{${cluster}} 1`,
      `pilot_xds_config_size_bytes{${cluster}} n`,
      `pilot_total_xds_rejects{${cluster}} 1`,
      `xdstp_answer_seconds{${cluster}} 0.5`,
      `pilot_xds_expired_nonce{${cluster}} 1`,
    ]);
  });

  it(`are read when they are asked for, and no more once the server is closed (${variant})`, async () => {
    const { meter, observed, callbacks } = useMeter();
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { open, turn, server } = serve(cache, { meter });
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    const kind = variant.startsWith("delta") ? "delta" : "sotw";
    expect(observed()).toEqual(
      expect.arrayContaining([
        `pilot_xds{${kind}} 1`,
        `xdstp_types{${cluster} STALE} 1`,
        "xdstp_stuck_types{} 0",
        "xdstp_revision{} 2",
        "xdstp_connections{} 0",
        "xdstp_waiting_streams{} 0",
        "xdstp_frames_total{encoded} 1",
      ]),
    );
    call.ack(call.next());
    expect(observed()).toContain(`xdstp_types{${cluster} SYNCED} 1`);
    const closing = server.close();
    turn();
    await closing;
    expect(callbacks()).toBe(0);
  });
});

describe("metrics of limits", () => {
  it("count how often each was met, by its name [S-LIM-4]", () => {
    const { meter, observed } = useMeter();
    const { open, turn } = serve(readyCache(), { meter, limits: { stream: { nameLength: 3 } } });
    const call = open("delta/ads");
    call.ask(types.cluster, ["too long"]);
    turn();
    expect(call.closed).toMatchObject({ code: 8 });
    expect(observed()).toContain("xdstp_limits_total{nameLength} 1");
  });

  it("count Fetches and status requests that were turned away, and tell which wait [S-LIM-1]", async () => {
    const { meter, observed } = useMeter();
    const { server } = serve(readyCache(), {
      meter,
      limits: { answers: { statusAnswers: 1, fetchAnswers: 1, waitingAnswers: 1 } },
    });
    const asked = [0, 1, 2].map(async () => server.clientStatus());
    expect(observed()).toEqual(
      expect.arrayContaining([
        "xdstp_waiting_answers{status} 1",
        "xdstp_rejected_answers_total{status} 1",
        "xdstp_waiting_answers{fetch} 0",
        "xdstp_rejected_answers_total{fetch} 0",
        "xdstp_full_connections_total{} 0",
      ]),
    );
    await Promise.allSettled(asked);
    await Promise.allSettled(
      [0, 1, 2].map(async () => server.fetch(types.cluster, { node: { id: "n" } })),
    );
    expect(observed()).toEqual(
      expect.arrayContaining([
        "xdstp_waiting_answers{status} 0",
        "xdstp_rejected_answers_total{fetch} 1",
      ]),
    );
  });
});

describe("labels of metrics", () => {
  it("hold nothing that a client chooses: neither its id nor a type that is not served", () => {
    const { meter, observed, recorded } = useMeter();
    const { open, turn } = serve(readyCache(), { meter });
    const call = open("delta/ads", { id: "chosen" });
    call.ask("type.googleapis.com/chosen.Type", ["chosen"]);
    turn();
    expect([...recorded, ...observed()].filter((text) => text.includes("chosen"))).toEqual([]);
    expect(observed()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^xdstp_types\{other /)]),
    );
  });
});
