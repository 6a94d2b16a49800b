import { createCache, type Cache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { describe, expect, it } from "vitest";
import { createMemoryStream } from "@xdstp/testing";
import { createClient, payload } from "../test/client.ts";
import { routeTo } from "../test/route-to.ts";
import { type Harness, type OpenCall, paths, readyCache, serve, types } from "../test/harness.ts";
import { defaultServerLimits, type GivenLimits } from "./server-limits.ts";
import type { ServerOptions } from "./xds-server.ts";

/** A limit, and a result that depends on its value. */
interface Row {
  readonly limit: string;
  readonly value: number;
  /** Other limits that are needed so that the limit is reached. */
  readonly with?: Readonly<Record<string, number>>;
  readonly options?: Partial<ServerOptions>;
  readonly cache?: () => Cache;
  /** Returns the result. */
  readonly act: (harness: Harness, cache: Cache) => unknown;
  /** The results with this value and with the default. */
  readonly seen: readonly [limited: unknown, usual: unknown];
}

const groups = ["stream", "admission", "access", "answers"] as const;

/** Returns limits by name, in their groups. */
function grouped(limits: Readonly<Record<string, number>>): GivenLimits {
  return Object.fromEntries(
    groups.map((group) => [
      group,
      Object.fromEntries(
        Object.entries(limits).filter(([name]) => name in defaultServerLimits[group]),
      ),
    ]),
  );
}

function putClusters(cache: Cache, ...names: readonly string[]): void {
  for (const name of names)
    cache.put({ typeUrl: types.cluster, name, value: payload(name, "x".repeat(100)) });
}

/** Subscribes to clusters. Returns the text with which the stream ended. */
function endOf(
  { open, turn }: Harness,
  names: readonly string[],
  holds?: Readonly<Record<string, string>>,
): string | undefined {
  const call = open("delta/ads");
  call.ask(types.cluster, names, holds);
  turn();
  return call.closed?.message;
}

function asked(
  { open, turn }: Harness,
  variant: "delta/ads" | "sotw/ads",
  ...names: readonly string[]
): OpenCall {
  const call = open(variant);
  call.ask(types.cluster, names);
  turn();
  return call;
}

/** Sends an ACK for every response. Returns the number of responses. */
function ackAll({ turn }: Harness, call: OpenCall): number {
  let count = 0;
  for (; call.unread > 0; count++) {
    call.ack(call.next());
    turn();
  }
  return count;
}

const glob = (name: string): string => `xdstp://a/envoy.config.cluster.v3.Cluster/${name}/*`;

/** Creates a cache that does not know yet whether a name exists. */
function unsettledCache(): Cache {
  const cache = createCache({ types: envoyTypes });
  cache.addFeed({ want: () => undefined, run: async () => new Promise(() => undefined) });
  return cache;
}

const undecided: Partial<ServerOptions> = { authorize: async () => new Promise(() => undefined) };

/**
 * Requests three names over a wire that cannot pause, before it is decided what the client may see.
 */
function isCutWhileUndecided({ server }: Harness): boolean {
  const wire = createMemoryStream((out) => {
    const handler = server.accept(paths["delta/ads"], "192.0.2.1:5", {
      send: (message) => out.send(message),
      close: (status) => {
        out.close(status);
      },
    });
    if ("code" in handler) throw new Error(handler.message);
    return handler;
  });
  const client = createClient(wire, "delta");
  for (const name of ["a", "b", "c"]) client.ask(types.cluster, [name]);
  return wire.closed !== undefined;
}

const rows: readonly Row[] = [
  {
    limit: "responseBytes",
    value: 400,
    act(harness, cache) {
      putClusters(cache, "a", "b");
      return ackAll(harness, asked(harness, "delta/ads", "a", "b"));
    },
    seen: [2, 1],
  },
  {
    limit: "fullStateBytes",
    value: 1,
    act(harness, cache) {
      putClusters(cache, "a");
      return asked(harness, "sotw/ads", "a").unread;
    },
    seen: [0, 1],
  },
  {
    limit: "repairMs",
    value: 1,
    act(harness, cache) {
      putClusters(cache, "a");
      const call = asked(harness, "sotw/ads", "a");
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      harness.turn();
      harness.clock.advance(1);
      harness.turn();
      return call.unread;
    },
    seen: [2, 1],
  },
  {
    limit: "orderMs",
    value: 1,
    act(harness, cache) {
      const call = asked(harness, "delta/ads", "*");
      call.ask(types.route, ["r"]);
      harness.turn();
      ackAll(harness, call);
      putClusters(cache, "a");
      cache.put({ typeUrl: types.route, name: "r", value: routeTo("a") });
      harness.turn();
      harness.clock.advance(1);
      harness.turn();
      return call.unread;
    },
    seen: [2, 1],
  },
  {
    limit: "stuckMs",
    value: 1,
    act(harness, cache) {
      putClusters(cache, "a");
      asked(harness, "delta/ads", "a");
      harness.clock.advance(2);
      return harness.server.status()[0]?.types[0]?.stuck;
    },
    seen: [true, false],
  },
  {
    limit: "endStuckMs",
    value: 1,
    act(harness, cache) {
      putClusters(cache, "a");
      const call = asked(harness, "delta/ads", "a");
      harness.clock.advance(2);
      return call.closed?.message;
    },
    seen: ["a response was not answered for too long", undefined],
  },
  {
    limit: "settleMs",
    value: 1,
    cache: unsettledCache,
    act(harness, cache) {
      putClusters(cache, "a");
      const call = asked(harness, "sotw/ads", "a", "b");
      harness.clock.advance(1);
      harness.turn();
      return call.unread;
    },
    seen: [1, 0],
  },
  {
    limit: "errorText",
    value: 3,
    act(harness, cache) {
      putClusters(cache, "a");
      const call = asked(harness, "delta/ads", "a");
      call.nack(call.next(), "abcdef");
      return harness.events.flatMap((event) =>
        event.kind === "nack" ? [event.error.message] : [],
      );
    },
    seen: [["abc"], ["abcdef"]],
  },
  {
    limit: "subscriptions",
    value: 1,
    act: (harness) => endOf(harness, ["a", "b"]),
    seen: ["more than 1 subscriptions of one type", undefined],
  },
  {
    limit: "streamSubscriptions",
    value: 1,
    act: (harness) => endOf(harness, ["a", "b"]),
    seen: ["more than 1 subscriptions of all types", undefined],
  },
  {
    limit: "streamNameLength",
    value: 1,
    act: (harness) => endOf(harness, ["ab"]),
    seen: ["the names of all subscriptions are longer than 1 characters", undefined],
  },
  {
    limit: "globs",
    value: 1,
    act: (harness) => endOf(harness, [glob("a"), glob("b")]),
    seen: ["more than 1 globs of one type", undefined],
  },
  {
    limit: "heldVersions",
    value: 1,
    act: (harness) => endOf(harness, ["a"], { a: "1", b: "1" }),
    seen: ["more than 1 initial_resource_versions", undefined],
  },
  {
    limit: "nameLength",
    value: 1,
    act: (harness) => endOf(harness, ["ab"]),
    seen: ["a name is longer than 1 bytes", undefined],
  },
  {
    limit: "parameters",
    value: 1,
    act: (harness) => endOf(harness, ["xdstp://a/envoy.config.cluster.v3.Cluster/b?c=1&d=2"]),
    seen: ["a name has more than 1 context parameters", undefined],
  },
  {
    limit: "nodeLength",
    value: 1,
    act: (harness) => endOf(harness, ["a"]),
    seen: ["the node is longer than 1 without its extensions and metadata", undefined],
  },
  {
    limit: "types",
    value: 1,
    act(harness) {
      const call = asked(harness, "delta/ads", "a");
      call.ask(types.listener, ["a"]);
      harness.turn();
      return call.closed?.message;
    },
    seen: ["more than 1 types on one stream", undefined],
  },
  {
    limit: "changeBurst",
    value: 1,
    act(harness) {
      const call = harness.open("delta/ads");
      for (let at = 0; at < 5; at++) call.ask(types.cluster, [`n${at}`]);
      harness.turn();
      return call.paused;
    },
    seen: [true, false],
  },
  {
    limit: "changesPerSecond",
    value: 1,
    with: { changeBurst: 1 },
    act(harness) {
      const call = harness.open("delta/ads");
      for (let at = 0; at < 5; at++) call.ask(types.cluster, [`n${at}`]);
      harness.turn();
      harness.clock.advance(100);
      harness.turn();
      return call.paused;
    },
    seen: [true, false],
  },
  {
    limit: "nackCost",
    value: 1_000,
    with: { changeBurst: 100 },
    act(harness, cache) {
      putClusters(cache, "a");
      const call = asked(harness, "delta/ads", "a");
      call.nack(call.next(), "no");
      for (let at = 0; at < 5; at++) call.ask(types.cluster, [`n${at}`]);
      harness.turn();
      return call.paused;
    },
    seen: [true, false],
  },
  {
    limit: "firstSyncs",
    value: 1,
    act(harness, cache) {
      putClusters(cache, "a");
      asked(harness, "delta/ads", "a");
      return asked(harness, "delta/ads", "a").unread;
    },
    seen: [0, 1],
  },
  {
    limit: "firstSyncMs",
    value: 1,
    with: { firstSyncs: 1 },
    act(harness, cache) {
      putClusters(cache, "a");
      asked(harness, "delta/ads", "a");
      const call = asked(harness, "delta/ads", "a");
      harness.clock.advance(1);
      harness.turn();
      return call.unread;
    },
    seen: [1, 0],
  },
  {
    limit: "waitingSyncs",
    value: 1,
    with: { firstSyncs: 1 },
    act(harness, cache) {
      putClusters(cache, "a");
      for (let at = 0; at < 2; at++) asked(harness, "delta/ads", "a");
      return asked(harness, "delta/ads", "a").closed?.message;
    },
    seen: ["too many clients are beginning at once; try again later", undefined],
  },
  {
    limit: "admissionMs",
    value: 1,
    with: { firstSyncs: 1, firstSyncMs: 60_000 },
    act(harness, cache) {
      putClusters(cache, "a");
      asked(harness, "delta/ads", "a");
      const call = asked(harness, "delta/ads", "a");
      harness.clock.advance(1);
      return call.closed?.message;
    },
    seen: ["too many clients are beginning at once; try again later", undefined],
  },
  {
    limit: "authorizeMs",
    value: 1,
    options: undecided,
    async act(harness) {
      const call = asked(harness, "delta/ads", "a");
      await new Promise(setImmediate);
      harness.clock.advance(1);
      await new Promise(setImmediate);
      return call.closed?.message;
    },
    seen: ["access cannot be decided now", undefined],
  },
  {
    limit: "waitingMessages",
    value: 1,
    options: undecided,
    act: isCutWhileUndecided,
    seen: [true, false],
  },
  {
    limit: "waitingBytes",
    value: 1,
    options: undecided,
    act: isCutWhileUndecided,
    seen: [true, false],
  },
  {
    limit: "statusAnswers",
    value: 1,
    async act({ server }) {
      const answers = [0, 1, 2].map(async () => server.clientStatus());
      const { status } = server.stats().answers;
      await Promise.allSettled(answers);
      return status;
    },
    seen: [
      { answering: 1, waiting: 2, rejected: 0 },
      { answering: 2, waiting: 1, rejected: 0 },
    ],
  },
  {
    limit: "fetchAnswers",
    value: 1,
    with: { waitingAnswers: 1 },
    async act({ server }) {
      await Promise.allSettled(
        [0, 1, 2].map(async () => server.fetch(types.cluster, { node: { id: "n" } })),
      );
      return server.stats().answers.fetch.rejected;
    },
    seen: [1, 0],
  },
  {
    limit: "waitingAnswers",
    value: 1,
    with: { statusAnswers: 1 },
    async act({ server }) {
      const answers = [0, 1, 2].map(async () => server.clientStatus());
      const { status } = server.stats().answers;
      await Promise.allSettled(answers);
      return status;
    },
    seen: [
      { answering: 1, waiting: 1, rejected: 1 },
      { answering: 1, waiting: 2, rejected: 0 },
    ],
  },
];

describe("each limit of createServer()", () => {
  it.each(rows)("$limit: acts with $value, and not so by default", async (row) => {
    const seenWith = (limits: Readonly<Record<string, number>>): unknown => {
      const cache = (row.cache ?? readyCache)();
      const harness = serve(cache, { ...row.options, limits: grouped({ ...row.with, ...limits }) });
      return row.act(harness, cache);
    };
    expect([await seenWith({ [row.limit]: row.value }), await seenWith({})]).toEqual(row.seen);
  });

  it("is in this table", () => {
    expect(rows.map(({ limit }) => limit).toSorted()).toEqual(
      groups.flatMap((group) => Object.keys(defaultServerLimits[group])).toSorted(),
    );
  });
});
