import { getEventListeners } from "node:events";
import { type Cache, createCache } from "@xdstp/cache";
import type { ResourceFeed, ResourceSink, Topic, Watcher } from "@xdstp/core";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { nameIn, payload } from "../test/client.ts";
import { readyCache, serve, sourceWithTopic, topicWith, types } from "../test/harness.ts";
import { whenSettled } from "./answer-fetch.ts";

const node = { id: "n" };
const namesOf = (response: {
  readonly resources: readonly { readonly value: Uint8Array }[];
}): readonly string[] => response.resources.map(({ value }) => nameIn(value));

/** Creates a cache that is filled on demand, by a feed that answers when the test says so. */
function onDemand(): { readonly cache: Cache; readonly sink: () => ResourceSink } {
  const cache = createCache({ types: envoyTypes });
  let held: ResourceSink | undefined;
  const feed: ResourceFeed = {
    async run(sink, signal) {
      held = sink;
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
    },
    want: () => undefined,
  };
  cache.addFeed(feed);
  return { cache, sink: () => held ?? cache };
}

function put(sink: ResourceSink, typeUrl: string, name: string): void {
  void sink.commit({
    put: [{ typeUrl, resource: { name, version: "", payload: { typeUrl, value: payload(name) } } }],
  });
}

describe("fetch()", () => {
  it("answers with the whole state each time, also to a client that names the current version (fetch) [S-REST-9]", async () => {
    const cache = readyCache();
    for (const name of ["a", "b"])
      cache.put({ typeUrl: types.cluster, name, value: payload(name) });
    const { server } = serve(cache);
    const first = await server.fetch(types.cluster, { node });
    expect(namesOf(first)).toEqual(["a", "b"]);
    expect(first).toMatchObject({ typeUrl: types.cluster, controlPlane: { identifier: "xdstp" } });
    expect(first.versionInfo).not.toBe("");
    const again = await server.fetch(types.cluster, {
      node,
      versionInfo: first.versionInfo,
      responseNonce: first.nonce,
    });
    expect(namesOf(again)).toEqual(["a", "b"]);
    expect(again.versionInfo).toBe(first.versionInfo);
  });

  it("answers with all that was asked for in a type whose streams send only what changed (fetch) [S-REST-9]", async () => {
    const cache = readyCache();
    for (const name of ["a", "b", "c"])
      cache.put({ typeUrl: types.assignment, name, value: payload(name) });
    const { server } = serve(cache);
    for (let count = 0; count < 2; count++)
      expect(
        namesOf(
          await server.fetch(types.assignment, { node, resourceNames: ["a", "c", "missing"] }),
        ),
      ).toEqual(["a", "c"]);
  });

  it("answers with an empty response where nothing exists, under a version (fetch) [S-REST-9] [S-VER-7]", async () => {
    const { server } = serve(readyCache());
    const asked = [{ resourceNames: ["missing"] }, {}];
    for (const typeUrl of [types.assignment, types.cluster]) {
      for (const request of asked) {
        const response = await server.fetch(typeUrl, { node, ...request });
        expect(response).toMatchObject({
          typeUrl,
          versionInfo: "0",
          resources: [],
          controlPlane: { identifier: "xdstp" },
        });
      }
    }
  });

  it("keeps nothing behind, and is not a stream in status and events (fetch) [S-STREAM-10]", async () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { server, clock, kinds } = serve(cache);
    await server.fetch(types.cluster, { node, resourceNames: ["a"] });
    expect(cache.counters.topics).toBe(0);
    expect(clock.pending).toBe(0);
    expect(server.status()).toEqual([]);
    expect(kinds()).toEqual(["fetch"]);
  });

  it("tells of each answer, and of the rejection that a request carries (fetch) [S-REST-9]", async () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    const { server, events } = serve(cache, { limits: { stream: { errorText: 4 } } });
    const { versionInfo } = await server.fetch(types.cluster, {
      node,
      resourceNames: ["a"],
      versionInfo: "old",
      errorDetail: { code: 3, message: "no such" },
    });
    expect(events).toMatchObject([
      {
        kind: "fetch",
        typeUrl: types.cluster,
        node: { id: "n" },
        names: ["a"],
        accepted: "old",
        error: { code: 3, message: "no s" },
        status: { code: 0 },
        version: versionInfo,
        resources: 1,
      },
    ]);
  });

  it("turns requests away until the source is ready (fetch) [S-STREAM-9]", async () => {
    const cache = createCache({ types: envoyTypes });
    const { server, kinds } = serve(cache);
    await expect(server.fetch(types.cluster, { node })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect(kinds()).toEqual(["rejected"]);
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
    expect(namesOf(await server.fetch(types.cluster, { node }))).toEqual(["a"]);
  });

  it("turns requests away that no stream would take (fetch) [S-TYPE-2] [S-STREAM-8]", async () => {
    const { server } = serve(readyCache());
    await expect(server.fetch(types.cluster, {})).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      text: "the first message has no node",
    });
    await expect(
      server.fetch(types.cluster, { node, typeUrl: types.listener }),
    ).rejects.toMatchObject({
      code: "INVALID_ARGUMENT",
      text: "type_url is not the type of this service",
    });
    await expect(
      server.fetch(types.cluster, { node, resourceNames: ["x".repeat(3000)] }),
    ).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    await expect(server.fetch(types.virtualHost, { node })).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
    });
    expect((await server.fetch(types.cluster, { node, typeUrl: types.cluster })).typeUrl).toBe(
      types.cluster,
    );
  });

  it("waits for what is not known yet, and answers once it is (fetch) [S-STREAM-9]", async () => {
    const { cache, sink } = onDemand();
    const { server, clock } = serve(cache);
    const answer = server.fetch(types.cluster, { node, resourceNames: ["a", "b"] });
    await Promise.resolve();
    put(sink(), types.cluster, "a");
    clock.advance(5_000);
    put(sink(), types.cluster, "b");
    expect(namesOf(await answer)).toEqual(["a", "b"]);
    expect(clock.pending).toBe(0);
  });

  it("gives a client without a version what is known after 10 s, and UNAVAILABLE to one that would take the rest for deleted (fetch) [S-STREAM-9]", async () => {
    const { cache, sink } = onDemand();
    const { server, clock } = serve(cache);
    const without = server.fetch(types.cluster, { node, resourceNames: ["a", "b"] });
    const holding = server.fetch(types.cluster, {
      node,
      resourceNames: ["a", "b"],
      versionInfo: "1",
    });
    const partial = server.fetch(types.assignment, {
      node,
      resourceNames: ["a", "b"],
      versionInfo: "1",
    });
    const nothing = server.fetch(types.assignment, { node, resourceNames: ["c", "d"] });
    const rejected = expect(
      Promise.all([
        holding.catch((error: unknown) => error),
        nothing.catch((error: unknown) => error),
      ]),
    ).resolves.toMatchObject([{ code: "UNAVAILABLE" }, { code: "UNAVAILABLE" }]);
    put(sink(), types.cluster, "a");
    put(sink(), types.assignment, "a");
    clock.advance(9_999);
    expect(clock.pending).toBeGreaterThan(0);
    clock.advance(1);
    expect(namesOf(await without)).toEqual(["a"]);
    expect(namesOf(await partial)).toEqual(["a"]);
    await rejected;
    expect(clock.pending).toBe(0);
    expect(cache.counters.topics).toBe(0);
  });

  it("stops waiting when the client goes, and when the server closes (fetch) [S-STREAM-10] [S-STREAM-13]", async () => {
    const { cache } = onDemand();
    const { server, clock, turn } = serve(cache);
    const gone = new AbortController();
    const first = server.fetch(
      types.cluster,
      { node, resourceNames: ["a"] },
      { signal: gone.signal },
    );
    gone.abort();
    await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(
      server.fetch(types.cluster, { node, resourceNames: ["a"] }, { signal: gone.signal }),
    ).rejects.toMatchObject({ code: "CANCELLED" });
    const second = server.fetch(types.cluster, { node, resourceNames: ["a"] });
    const closing = server.close();
    turn();
    await expect(second).rejects.toMatchObject({
      code: "UNAVAILABLE",
      text: "the server is shutting down",
    });
    await closing;
    await expect(server.fetch(types.cluster, { node })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect(clock.pending).toBe(0);
    expect(cache.counters.topics).toBe(0);
  });

  it("says that a state is too large, and never that it is empty (fetch) [S-SIZE-3]", async () => {
    const cache = readyCache();
    for (const name of ["a", "b", "c"]) {
      cache.put({ typeUrl: types.cluster, name, value: payload(name, "x".repeat(400)) });
      cache.put({ typeUrl: types.assignment, name, value: payload(name, "x".repeat(400)) });
    }
    const { server } = serve(cache, {
      limits: { stream: { fullStateBytes: 1000, responseBytes: 500 } },
    });
    await expect(server.fetch(types.cluster, { node })).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      text: "the state is larger than 1000 bytes: ask for fewer names",
    });
    await expect(
      server.fetch(types.assignment, { node, resourceNames: ["a", "b", "c"] }),
    ).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
    expect(namesOf(await server.fetch(types.assignment, { node, resourceNames: ["a"] }))).toEqual([
      "a",
    ]);
  });

  it("tells operators what did not go out: one resource beside others, or a whole state (fetch) [S-SIZE-3] [S-SIZE-4]", async () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "x".repeat(300)) });
    cache.put({ typeUrl: types.cluster, name: "giant", value: payload("giant", "x".repeat(900)) });
    const { server, events } = serve(cache, { limits: { stream: { fullStateBytes: 600 } } });
    expect(namesOf(await server.fetch(types.cluster, { node }))).toEqual(["a"]);
    cache.put({ typeUrl: types.cluster, name: "b", value: payload("b", "x".repeat(300)) });
    await expect(server.fetch(types.cluster, { node })).rejects.toMatchObject({
      code: "RESOURCE_EXHAUSTED",
    });
    expect(events).toMatchObject([
      {
        kind: "not-sent",
        typeUrl: types.cluster,
        resources: [{ name: "giant", reason: "too-large" }],
      },
      { kind: "fetch", status: { code: 0 }, resources: 1 },
      { kind: "not-sent", typeUrl: types.cluster },
      { kind: "fetch", status: { code: 8 }, version: "", resources: 0 },
    ]);
  });

  it("answers INTERNAL with a fixed text when the source throws (fetch) [S-STREAM-7]", async () => {
    const source = sourceWithTopic(readyCache(), "bad", () =>
      topicWith({
        members: () => {
          throw new Error("secret");
        },
      }),
    );
    const { server, events } = serve(source);
    await expect(
      server.fetch(types.cluster, { node, resourceNames: ["bad"] }),
    ).rejects.toMatchObject({ code: "INTERNAL", text: "internal error" });
    expect(events).toMatchObject([{ kind: "fault", error: new Error("secret") }]);
  });
});

/** Creates a topic that settles when the test says so. */
function pending(): {
  readonly topic: Topic;
  readonly watchers: ReadonlySet<Watcher>;
  wake(settled: boolean): void;
} {
  const watchers = new Set<Watcher>();
  let settled = false;
  const topic: Topic = {
    ...topicWith({
      watch: (watcher) => {
        watchers.add(watcher);
      },
      unwatch: (watcher) => {
        watchers.delete(watcher);
      },
    }),
    get settled() {
      return settled;
    },
  };
  return {
    topic,
    watchers,
    wake(now) {
      settled = now;
      for (const watcher of [...watchers]) watcher.wake(topic);
    },
  };
}

describe("whenSettled()", () => {
  it("is settled at once where nothing is pending", async () => {
    const clock = createFakeClock();
    const limits = { clock, atMostMs: 10, signal: new AbortController().signal };
    expect(await whenSettled([], limits)).toBe("settled");
    expect(await whenSettled([topicWith({ settled: true })], limits)).toBe("settled");
    expect(clock.pending).toBe(0);
  });

  it("waits for every topic, and is not fooled by a wake", async () => {
    const [a, b] = [pending(), pending()];
    const clock = createFakeClock();
    const { signal } = new AbortController();
    const wait = whenSettled([a.topic, b.topic], { clock, atMostMs: 10, signal });
    a.wake(false);
    b.wake(true);
    b.wake(true);
    expect([a.watchers.size, b.watchers.size, clock.pending]).toEqual([1, 1, 1]);
    a.wake(true);
    expect(await wait).toBe("settled");
    expect([
      a.watchers.size,
      b.watchers.size,
      clock.pending,
      getEventListeners(signal, "abort").length,
    ]).toEqual([0, 0, 0, 0]);
  });

  it.each(["late", "aborted"] as const)("leaves nothing behind when it ends %s", async (how) => {
    const a = pending();
    const clock = createFakeClock();
    const abort = new AbortController();
    const wait = whenSettled([a.topic], { clock, atMostMs: 10, signal: abort.signal });
    if (how === "late") clock.advance(10);
    else abort.abort();
    expect(await wait).toBe(how);
    expect([
      a.watchers.size,
      clock.pending,
      getEventListeners(abort.signal, "abort").length,
    ]).toEqual([0, 0, 0]);
  });

  it("does not begin once it is aborted", async () => {
    const a = pending();
    expect(
      await whenSettled([a.topic], {
        clock: createFakeClock(),
        atMostMs: 10,
        signal: AbortSignal.abort(),
      }),
    ).toBe("aborted");
    expect(a.watchers.size).toBe(0);
  });
});
