import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { afterEach, describe, expect, it } from "vitest";

import {
  createDemandFeed,
  createFeed,
  createWatcher,
  put,
  shown,
  T,
  turn,
  U,
} from "../test/scene.ts";
import { createCache, type Cache, type CacheEvent, type CacheOptions } from "./index.ts";

const open: Cache[] = [];

function start(options: CacheOptions = {}): Cache {
  const cache = createCache(options);
  open.push(cache);
  return cache;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((cache) => cache.close()));
});

const star = { name: "*" };
const glob = { name: "xdstp://a/t.T/ns/*" };
const ns = (id: string): string => `xdstp://a/t.T/ns/${id}`;

describe("readiness", () => {
  it("of a cache without feeds comes with the first transaction, be it empty [S-STREAM-9]", () => {
    const events: CacheEvent[] = [];
    const cache = start({
      onEvent: (event) => {
        events.push(event);
      },
    });
    const topics = ["x", glob.name, "*"].map((name) => cache.topic(T, { name }));
    const watcher = createWatcher();
    for (const topic of topics) topic.watch(watcher);
    expect([cache.ready, ...topics.map(({ settled }) => settled)]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    cache.commit({});
    expect([
      cache.ready,
      watcher.wakes,
      ...topics.map(({ settled, head }) => settled && head),
    ]).toEqual([true, 3, 1, 1, 1]);
    cache.commit({});
    expect(watcher.wakes).toBe(3);
    expect(events).toEqual([{ kind: "ready", revision: 1 }]);
    expect(cache.counters).toEqual({
      reusedVersions: 0,
      ignoredAliases: 0,
      overlappingVariants: 0,
      rejected: 0,
      resources: 0,
      tombstones: 0,
      topics: 3,
    });
  });

  it("of a cache with feeds that push comes when each has committed once [S-STREAM-9]", () => {
    const cache = start();
    const [one, two] = [createFeed(), createFeed()];
    for (const feed of [one, two]) cache.addFeed(feed);
    cache.commit({ put: [put("mine")] });
    void one.sink.commit({ put: [put("x")] });
    void one.sink.commit({ put: [put("y")] });
    expect([
      cache.ready,
      cache.topic(T, { name: "x" }).settled,
      cache.topic(T, { name: "z" }).settled,
    ]).toEqual([false, true, false]);
    void two.sink.commit({});
    expect([cache.ready, cache.topic(T, { name: "z" }).settled]).toEqual([true, true]);
  });

  it("is not there while one feed has not committed, whatever another does [S-STREAM-9]", async () => {
    const cache = start();
    const [one, two, demand] = [createFeed(), createFeed(), createDemandFeed()];
    const [handle] = [one, two, demand].map((feed) => cache.addFeed(feed));
    expect(cache.ready).toBe(false);
    void one.sink.commit({ put: [put("x")] });
    one.end();
    expect([await handle?.ended, cache.ready, cache.revision]).toEqual([undefined, false, 1]);
    await cache.close();
    expect([cache.ready, cache.revision]).toEqual([false, 1]);
  });

  it("comes with the end of the last feed that was waited for, but not from a feed that gave nothing [S-STREAM-9]", async () => {
    const silent = start();
    const alone = createFeed();
    const handle = silent.addFeed(alone);
    alone.end();
    await handle.ended;
    expect([silent.ready, silent.revision]).toEqual([false, 0]);
    silent.commit({});
    expect(silent.ready).toBe(true);
    const cache = start();
    const [one, two] = [createFeed(), createFeed()];
    const handles = [one, two].map((feed) => cache.addFeed(feed));
    void one.sink.commit({});
    two.end();
    await handles[1]?.ended;
    expect([cache.ready, cache.revision]).toEqual([true, 2]);
  });

  it("is told at once when the first feed is filled on demand [S-STREAM-9]", () => {
    const events: CacheEvent[] = [];
    const cache = start({
      onEvent: (event) => {
        events.push(event);
      },
    });
    cache.addFeed(createFeed());
    expect(events).toEqual([]);
    const other = start({
      onEvent: (event) => {
        events.push(event);
      },
    });
    other.addFeed(createDemandFeed());
    expect(events).toEqual([{ kind: "ready", revision: 0 }]);
  });

  it("is not waited for from a feed that was closed, but from one that failed [S-STREAM-9]", async () => {
    const cache = start();
    const [one, two, bad] = [createFeed(), createFeed(), createFeed()];
    const [, closing] = [one, two].map((feed) => cache.addFeed(feed));
    void one.sink.commit({});
    await closing?.close();
    expect(cache.ready).toBe(true);
    const other = start();
    const handle = other.addFeed(bad);
    bad.end(new Error("no such folder"));
    expect(await handle.ended).toMatchObject({ code: "INTERNAL", text: "no such folder" });
    other.commit({});
    expect(other.ready).toBe(false);
  });

  it("of a cache that is filled on demand is there at once, and nothing is concluded from silence [S-STREAM-9]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    expect(cache.ready).toBe(true);
    const topic = cache.topic(T, { name: "x" });
    topic.watch(createWatcher());
    void feed.sink.commit({ put: [put("y")] });
    expect([topic.settled, topic.members()]).toEqual([false, []]);
  });
});

describe("settling on demand", () => {
  it("of a name comes with its resource, its removal or its error [B-RELAY-13]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [x, y, z] = ["x", "y", "z"].map((name) => cache.topic(T, { name }));
    const watcher = createWatcher();
    for (const topic of [x, y, z]) topic?.watch(watcher);
    const error = new XdsError("PERMISSION_DENIED", "no");
    void feed.sink.commit({
      put: [put("x")],
      remove: [
        { typeUrl: T, name: "y" },
        { typeUrl: T, name: "z", error },
      ],
    });
    expect([x, y, z].map((topic) => shown(topic?.members()))).toEqual([["x=1"], ["y-"], ["z-"]]);
    expect([watcher.wakes, z?.members()[0]?.error, y?.head]).toEqual([3, error, 1]);
    // The same removal again changes nothing (S-MISS-6), and a later reader finds the topic
    // settled.
    void feed.sink.commit({
      remove: [
        { typeUrl: T, name: "y" },
        { typeUrl: T, name: "z", error },
      ],
    });
    expect([watcher.wakes, cache.topic(T, { name: "y" }).settled]).toEqual([3, true]);
  });

  it("of a collection comes when the feed says so, once, and moves it [S-GLOB-3]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const topics = [glob, star].map((interest) => cache.topic(T, interest));
    const watcher = createWatcher();
    for (const topic of topics) topic.watch(watcher);
    void feed.sink.commit({ put: [put(ns("a"))] });
    expect(topics.map(({ settled }) => settled)).toEqual([false, false]);
    void feed.sink.commit({
      settled: [
        { typeUrl: T, interest: glob },
        { typeUrl: T, interest: star },
      ],
    });
    expect(topics.map(({ settled, head }) => [settled, head])).toEqual([
      [true, 2],
      [true, 2],
    ]);
    expect([watcher.wakes, topics[0]?.changes(1)]).toEqual([4, []]);
    void feed.sink.commit({ settled: [{ typeUrl: T, interest: glob }] });
    expect([watcher.wakes, topics[0]?.head]).toEqual([4, 2]);
    void feed.sink.commit({ complete: [{ typeUrl: T, interest: glob }] });
    expect(shown(topics[0]?.changes(2))).toEqual([`${ns("a")}-`, `${glob.name}-`]);
  });

  it("of an empty collection tells under its own URL that it is empty [S-GLOB-3]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, glob), createWatcher()];
    topic.watch(watcher);
    void feed.sink.commit({ settled: [{ typeUrl: T, interest: glob }] });
    expect([watcher.wakes, topic.settled, shown(topic.changes(0)), shown(topic.members())]).toEqual(
      [1, true, [`${glob.name}-`], [`${glob.name}-`]],
    );
  });

  it("comes with a complete state too, of a collection as of a name [C-FULL-3]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const topics = [glob, star, { name: "x" }].map((interest) => cache.topic(T, interest));
    for (const topic of topics) topic.watch(createWatcher());
    const complete = [glob, star, { name: "x" }].map((interest) => ({ typeUrl: T, interest }));
    void feed.sink.commit({ put: [put(ns("a"))], complete });
    expect(topics.map((topic) => [topic.settled, shown(topic.members())])).toEqual([
      [true, [`${ns("a")}=1`]],
      [true, [`${ns("a")}=1`]],
      [true, ["x-"]],
    ]);
  });

  it("of `*` by a feed on demand says nothing of what `*` does not cover [C-FULL-3]", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    for (const interest of [star, { name: ns("x?k=v") }])
      cache.topic(T, interest).watch(createWatcher());
    void feed.sink.commit({ put: [put("opaque"), put(ns("x?k=v"))] });
    void feed.sink.commit({ complete: [{ typeUrl: T, interest: star }] });
    expect([...feed.sink.held(T)].map(({ name }) => name)).toEqual([ns("x?k=v")]);
  });

  it("of a name that never was tells no collection of a removal", () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, glob), createWatcher()];
    topic.watch(watcher);
    cache.topic(T, { name: ns("x") }).watch(createWatcher());
    void feed.sink.commit({ remove: [{ typeUrl: T, name: ns("x") }] });
    void feed.sink.commit({
      remove: [{ typeUrl: T, name: ns("x"), error: new XdsError("NOT_FOUND", "why") }],
    });
    expect([watcher.wakes, topic.head, topic.changes(0), topic.removed()]).toEqual([0, 0, [], []]);
  });

  it("of an alias that leads nowhere any more stays, also for a reader that comes later [S-ALIAS-2, B-RELAY-13]", async () => {
    const clock = createFakeClock();
    const cache = start({ clock, lingerMs: 1000 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const topics = ["alias", "both"].map((name) => cache.topic(T, { name }));
    for (const topic of topics) topic.watch(watcher);
    await turn();
    void feed.sink.commit({
      put: [
        put("real", "1", { aliases: ["alias", "both"] }),
        put("other", "1", { aliases: ["both"] }),
      ],
    });
    for (const topic of topics) topic.unwatch(watcher);
    void feed.sink.commit({ put: [put("real", "1")] });
    expect(
      ["alias", "both", "unasked"].map((name) => [
        cache.topic(T, { name }).settled,
        shown(cache.topic(T, { name }).members()),
      ]),
    ).toEqual([
      [true, ["alias-"]],
      [true, ["other=1"]],
      [false, []],
    ]);
  });

  it("of a name that was rejected says why there is none [C-ACK-5]", () => {
    const error = new XdsError("INVALID_ARGUMENT", "bad");
    const cache = start({ types: [{ typeUrl: T, validate: () => error }] });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const topic = cache.topic(T, { name: "x" });
    topic.watch(createWatcher());
    void feed.sink.commit({ put: [put("x")], settled: [{ typeUrl: T, interest: { name: "x" } }] });
    expect([topic.settled, topic.members()[0]?.error]).toEqual([true, error]);
  });
});

describe("want()", () => {
  it("is called once per type and turn, with what began and ceased [C-SUB-10]", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const topics = [
      [T, "x"],
      [T, "*"],
      [T, glob.name],
      [U, "x"],
    ].map(([typeUrl = "", name = ""]) => cache.topic(typeUrl, { name }));
    for (const topic of topics) topic.watch(watcher);
    expect(feed.told).toEqual([]);
    await turn();
    expect(feed.told).toEqual([`T: +x +* +${glob.name}`, "U: +x"]);
    topics[0]?.unwatch(watcher);
    topics[3]?.unwatch(watcher);
    cache.topic(T, { name: "y" }).watch(watcher);
    await turn();
    expect(feed.told.slice(2)).toEqual(["T: +y -x", "U: -x"]);
  });

  it("counts interest by name: spellings and watchers are one, parameters are not [N-40, N-66]", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const topics = [ns("a"), ns("%61")].map((name) => cache.topic(T, { name }));
    const withParameters = cache.topic(T, { name: ns("a"), parameters: new Map([["k", "v"]]) });
    for (const topic of [...topics, withParameters]) topic.watch(watcher);
    topics[0]?.watch(createWatcher());
    await turn();
    expect(feed.told).toEqual([`T: +${ns("a")} +${ns("a")}`]);
    topics[0]?.unwatch(watcher);
    topics[1]?.unwatch(watcher);
    await turn();
    expect(feed.told).toHaveLength(1);
  });

  it("says nothing of what begins and ceases in one turn", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    topic.unwatch(watcher);
    await turn();
    topic.watch(watcher);
    await turn();
    topic.unwatch(watcher);
    topic.watch(watcher);
    await turn();
    expect(feed.told).toEqual(["T: +x"]);
  });

  it("does not ask for what cannot be [S-AUTH-8, B-TYPE-5, N-18]", async () => {
    const cache = start({ authorities: ["a"] });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    for (const name of ["xdstp://b/t.T/x", "xdstp://a/t.U/x", "xdstp://a/t.T/x#alt=y"])
      cache.topic(T, { name }).watch(createWatcher());
    await turn();
    expect(feed.told).toEqual([]);
  });

  it("lingers before it drops, and not at all if somebody comes back [B-RELAY-8]", async () => {
    const clock = createFakeClock();
    const cache = start({ clock, lingerMs: 60_000 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const [x, y] = ["x", "y"].map((name) => cache.topic(T, { name }));
    for (const topic of [x, y]) topic?.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put("x"), put("y")] });
    for (const topic of [x, y]) topic?.unwatch(watcher);
    clock.advance(59_999);
    await turn();
    expect([feed.told.length, cache.counters.resources]).toEqual([1, 2]);
    const back = cache.topic(T, { name: "x" });
    expect(shown(back.members())).toEqual(["x=1"]);
    back.watch(watcher);
    clock.advance(1);
    await turn();
    expect([feed.told.slice(1), cache.counters.resources]).toEqual([["T: -y"], 1]);
    back.unwatch(watcher);
    clock.advance(30_000);
    back.watch(watcher);
    back.unwatch(watcher);
    clock.advance(59_999);
    await turn();
    expect(feed.told).toHaveLength(2);
    clock.advance(1);
    await turn();
    expect(feed.told.slice(2)).toEqual(["T: -x"]);
    expect(clock.pending).toBe(0);
  });

  it("tells a feed that comes later of all that is wanted", async () => {
    const cache = start();
    const [early, watcher] = [cache.topic(T, { name: "early" }), createWatcher()];
    early.watch(watcher);
    const [one, two] = [createDemandFeed(), createDemandFeed()];
    cache.addFeed(one);
    await turn();
    cache.topic(T, { name: "late" }).watch(createWatcher());
    await turn();
    cache.addFeed(two);
    await turn();
    expect([one.told, two.told]).toEqual([["T: +early", "T: +late"], ["T: +early +late"]]);
    early.unwatch(watcher);
    await turn();
    expect([one.told.slice(2), two.told.slice(1)]).toEqual([["T: -early"], ["T: -early"]]);
  });

  it("that throws is told, and does not keep others from being told", async () => {
    const events: CacheEvent[] = [];
    const cache = start({
      onEvent: (event) => {
        events.push(event);
      },
    });
    const good = createDemandFeed();
    cache.addFeed({
      run: (sink, signal) => createFeed().run(sink, signal),
      want: () => {
        throw new Error("bug");
      },
    });
    cache.addFeed(good);
    cache.topic(T, { name: "x" }).watch(createWatcher());
    await turn();
    expect(good.told).toEqual(["T: +x"]);
    expect(events).toMatchObject([
      { kind: "ready" },
      { kind: "feed-failed", error: { text: "bug" } },
    ]);
  });
});

describe("a cache that is closed", () => {
  it("waits for nothing, whatever a feed still says while it ends, and after", async () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, lingerMs: 100 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const { sink } = feed;
    cache.topic(T, { name: "x" }).watch(createWatcher());
    await turn();
    const closing = cache.close();
    void sink.commit({
      put: [put("x", "1", { expireMs: 1_000 }), put("y", "1", { expireMs: 1_000 })],
    });
    await closing;
    void sink.commit({
      put: [put("x", "2", { expireMs: 1_000 }), put("z")],
      refresh: [{ typeUrl: T, name: "y", expireMs: 1_000 }],
    });
    expect([clock.pending, shown(cache.topic(T, { name: "x" }).members())]).toEqual([0, ["x=2"]]);
  });

  it("ends a feed that is added too late", async () => {
    const cache = createCache();
    await cache.close();
    const feed = createDemandFeed();
    expect(await cache.addFeed(feed).ended).toBeUndefined();
  });
});

describe("forgetting", () => {
  it("drops what nobody wants, without a tombstone, and keeps what somebody does [B-RELAY-10]", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const [all, some, exact] = ["*", glob.name, ns("b")].map((name) => cache.topic(T, { name }));
    for (const topic of [all, some, exact]) topic?.watch(watcher);
    await turn();
    void feed.sink.commit({
      put: [put("opaque"), put(ns("a")), put(ns("b"))],
      settled: [{ typeUrl: T, interest: glob }],
    });
    const held = (): readonly string[] => [...feed.sink.held(T)].map(({ name }) => name);
    all?.unwatch(watcher);
    await turn();
    expect(held()).toEqual([ns("a"), ns("b")]);
    some?.unwatch(watcher);
    await turn();
    expect([held(), cache.counters.tombstones]).toEqual([[ns("b")], 0]);
    exact?.unwatch(watcher);
    await turn();
    expect([held(), cache.counters]).toMatchObject([
      [],
      { resources: 0, tombstones: 0, topics: 0 },
    ]);
    expect([
      cache.topic(T, glob).settled,
      cache.topic(T, { name: ns("b") }).settled,
      cache.serves(T),
    ]).toEqual([false, false, true]);
  });

  it("also drops what is known to be missing, and its reason", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    await turn();
    void feed.sink.commit({
      remove: [{ typeUrl: T, name: "x", error: new XdsError("NOT_FOUND", "none") }],
    });
    topic.unwatch(watcher);
    await turn();
    expect([cache.topic(T, { name: "x" }).settled, cache.counters.tombstones]).toEqual([false, 0]);
  });

  it("drops a removal too, and does not count it any more", async () => {
    const clock = createFakeClock();
    const cache = start({ clock, tombstoneMs: 1000 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put("x")] });
    void feed.sink.commit({ remove: [{ typeUrl: T, name: "x" }] });
    expect(cache.counters.tombstones).toBe(1);
    topic.unwatch(watcher);
    await turn();
    expect([cache.counters.tombstones, cache.topic(T, star).removed()]).toEqual([0, []]);
    clock.advance(1000);
    void feed.sink.commit({});
    expect(cache.counters.tombstones).toBe(0);
  });

  it("does not concern a collection that is asked for with parameters still [N-66]", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [plain, watcher] = [cache.topic(T, glob), createWatcher()];
    for (const topic of [plain, cache.topic(T, { ...glob, parameters: new Map([["k", "v"]]) })])
      topic.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put(ns("a"))], settled: [{ typeUrl: T, interest: glob }] });
    plain.unwatch(watcher);
    await turn();
    expect([cache.topic(T, glob).settled, shown(cache.topic(T, glob).members())]).toEqual([
      true,
      [`${ns("a")}=1`],
    ]);
  });

  it("does not forget a removal that somebody asks about, even after the window [B-RELAY-13]", async () => {
    const clock = createFakeClock();
    const cache = start({ clock, tombstoneMs: 1000 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    cache.topic(T, { name: ns("x") }).watch(createWatcher());
    await turn();
    void feed.sink.commit({ put: [put(ns("x"))] });
    void feed.sink.commit({ remove: [{ typeUrl: T, name: ns("x") }] });
    clock.advance(1000);
    void feed.sink.commit({});
    const other = cache.topic(T, { name: ns("%78") });
    expect([cache.counters.tombstones, other.settled, shown(other.members())]).toEqual([
      0,
      true,
      [`${ns("%78")}-`],
    ]);
  });

  it("does not drop what is asked for with parameters only [N-66]", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [
      cache.topic(T, { name: "x", parameters: new Map([["k", "v"]]) }),
      createWatcher(),
    ];
    topic.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put("x")] });
    await turn();
    expect(cache.counters.resources).toBe(1);
    topic.unwatch(watcher);
    await turn();
    expect(cache.counters.resources).toBe(0);
  });

  it("does not drop what is reached by an alias", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const [real, alias] = ["real", "alias"].map((name) => cache.topic(T, { name }));
    for (const topic of [real, alias]) topic?.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    real?.unwatch(watcher);
    await turn();
    expect([cache.counters.resources, shown(alias?.members())]).toEqual([1, ["real=1"]]);
    alias?.unwatch(watcher);
    await turn();
    expect(cache.counters.resources).toBe(0);
  });

  it("does not linger for what may not be kept, alone or in a collection, and what has replaced it does not know it [B-RELAY-11] [B-RELAY-8]", async () => {
    const cache = createCache({ clock: createFakeClock(), lingerMs: 100 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const watcher = createWatcher();
    const topics = ["x", "y", ns("*")].map((name) => cache.topic(T, { name }));
    for (const topic of topics) topic.watch(watcher);
    await turn();
    const { revision } = feed.sink.commit({
      put: [
        put("x", "1", { noStore: true }),
        put("y"),
        put(ns("a"), "1", { noStore: true }),
        put(ns("b")),
      ],
    });
    feed.sink.commit({ put: [put("x", "2", { noStore: true }), put("y", "2")] });
    expect(["x", "y"].map((name) => cache.asOf(T, name, revision)?.resource !== undefined)).toEqual(
      [false, true],
    );
    for (const topic of topics) topic.unwatch(watcher);
    await turn();
    expect([...cache.held(T)].map(({ name }) => name)).toEqual(["y"]);
  });

  it.each([0, 100])(
    "drops what was wanted, put and given up in one turn (lingering for %i ms) [B-RELAY-10]",
    async (lingerMs) => {
      const cache = createCache({ clock: createFakeClock(), lingerMs });
      const feed = createDemandFeed();
      cache.addFeed(feed);
      const watcher = createWatcher();
      const topics = ["x", "alias", ns("*"), "y", "z"].map((name) => cache.topic(T, { name }));
      for (const topic of topics) topic.watch(watcher);
      void feed.sink.commit({
        put: [put("x"), put("real", "1", { aliases: ["alias"] }), put(ns("a"))],
        remove: [{ typeUrl: T, name: "y" }],
        settled: [{ typeUrl: T, interest: { name: ns("*") } }],
      });
      const [z, ...others] = topics.toReversed();
      for (const topic of others) topic.unwatch(watcher);
      z?.unwatch(watcher);
      z?.watch(watcher);
      await turn();
      expect([
        [...cache.held(T)],
        cache.counters.tombstones,
        cache.topic(T, { name: ns("*") }).settled,
        feed.told,
      ]).toEqual([[], 0, false, ["T: +z"]]);
    },
  );

  it("does not concern what the program or a feed that pushes has put", async () => {
    const cache = start();
    const [demand, push] = [createDemandFeed(), createFeed()];
    for (const feed of [demand, push]) cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, star), createWatcher()];
    topic.watch(watcher);
    await turn();
    void demand.sink.commit({ put: [put("demand")] });
    void push.sink.commit({ put: [put("push")] });
    cache.commit({ put: [put("mine")] });
    topic.unwatch(watcher);
    await turn();
    expect([...cache.held(T)].map(({ name }) => name)).toEqual(["push", "mine"]);
  });

  it("drops what comes on demand and nobody asked for, after lingering [C-SUB-8]", async () => {
    const clock = createFakeClock();
    const cache = start({ clock, lingerMs: 1000 });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    void feed.sink.commit({ put: [put("x"), put("y")] });
    cache.topic(T, { name: "y" }).watch(createWatcher());
    await turn();
    expect(cache.counters.resources).toBe(2);
    clock.advance(1000);
    await turn();
    expect([...cache.held(T)].map(({ name }) => name)).toEqual(["y"]);
    const eager = start({ clock });
    const other = createDemandFeed();
    eager.addFeed(other);
    void other.sink.commit({ put: [put("x")] });
    await turn();
    expect(eager.counters.resources).toBe(0);
  });

  it("leaves no history to a reader that was away", async () => {
    const cache = start();
    const feed = createDemandFeed();
    cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, glob), createWatcher()];
    topic.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put(ns("a"))] });
    void feed.sink.commit({ put: [put(ns("b"))] });
    topic.unwatch(watcher);
    await turn();
    topic.watch(watcher);
    void feed.sink.commit({ put: [put(ns("c"))] });
    expect([topic.changes(1), shown(topic.changes(2))]).toEqual([undefined, [`${ns("c")}=1`]]);
  });
});

describe("unavailable()", () => {
  const error = new XdsError("UNAVAILABLE", "upstream is away");

  it("makes the topics of its scope stale, wakes them, and clears again [B-RELAY-9]", () => {
    const cache = start();
    cache.commit({
      put: [
        put("x"),
        put("xdstp://a/t.T/x"),
        put("xdstp://b/t.T/x"),
        put("x", "1", { typeUrl: U }),
      ],
    });
    const topics = [
      [T, "x"],
      [T, "xdstp://a/t.T/x"],
      [T, "xdstp://b/t.T/x"],
      [U, "x"],
      [T, "*"],
    ].map(([typeUrl = "", name = ""]) => cache.topic(typeUrl, { name }));
    const watchers = topics.map((topic) => {
      const watcher = createWatcher();
      topic.watch(watcher);
      return watcher;
    });
    const stale = (): string =>
      topics.map((topic) => (topic.stale === undefined ? "-" : "S")).join("");
    const scopes = [
      {},
      { typeUrl: T },
      { typeUrl: T, interest: { name: "x" } },
      { authority: "a" },
      { typeUrl: U, authority: "a" },
      { interest: { name: "xdstp://a/t.T/%78" } },
    ];
    const seen = scopes.map((scope) => {
      cache.unavailable(scope, error);
      const during = stale();
      cache.unavailable(scope, undefined);
      return `${during} ${stale()}`;
    });
    expect(seen).toEqual([
      "SSSSS -----",
      "SSS-S -----",
      "S---- -----",
      "-S--- -----",
      "----- -----",
      "-S--- -----",
    ]);
    expect(watchers.map(({ wakes }) => wakes)).toEqual([6, 8, 4, 2, 4]);
    expect(shown(topics[0]?.members())).toEqual(["x=1"]);
  });

  it("wakes nobody for a narrower error, and shows the wider one to topics that come later", () => {
    const cache = start();
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    cache.unavailable({ typeUrl: T }, error);
    expect([
      watcher.wakes,
      cache.topic(T, { name: "y" }).stale,
      cache.topic(U, { name: "y" }).stale,
    ]).toEqual([1, error, undefined]);
    cache.unavailable(
      { typeUrl: T, interest: { name: "x" } },
      new XdsError("UNAVAILABLE", "narrower"),
    );
    expect([watcher.wakes, topic.stale]).toEqual([1, error]);
    cache.unavailable({}, undefined);
    expect([watcher.wakes, topic.stale]).toEqual([2, undefined]);
  });

  it("wakes for each report, whether or not it is the same error, and not where another source ends [C-ACK-18]", () => {
    const cache = start();
    const other = createFeed();
    cache.addFeed(other);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    cache.unavailable({ typeUrl: T }, error);
    cache.unavailable({ typeUrl: T }, new XdsError(error.code, error.text));
    expect(watcher.wakes).toBe(2);
    cache.unavailable({ typeUrl: T }, error);
    cache.unavailable({ typeUrl: T }, error);
    expect([watcher.wakes, topic.stale]).toEqual([4, error]);
    other.sink.unavailable({}, undefined);
    expect(watcher.wakes).toBe(4);
  });

  it("is known to a topic that is watched later, and its end is told", () => {
    const cache = start();
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    cache.unavailable({}, error);
    topic.watch(watcher);
    expect(topic.stale).toBe(error);
    cache.unavailable({}, undefined);
    expect([topic.stale, watcher.wakes]).toEqual([undefined, 1]);
  });

  it("ends with the feed that said it, and not with another", async () => {
    const cache = start();
    const feeds = [createFeed(), createFeed()];
    const handles = feeds.map((feed) => cache.addFeed(feed));
    for (const feed of feeds) feed.sink.unavailable({}, error);
    await handles[0]?.close();
    expect(cache.topic(T, { name: "x" }).stale).toBe(error);
    await handles[1]?.close();
    expect(cache.topic(T, { name: "x" }).stale).toBeUndefined();
  });

  it("of one feed is not cleared by another", () => {
    const cache = start();
    const [one, two] = [createFeed(), createFeed()];
    for (const feed of [one, two]) cache.addFeed(feed);
    const [watched, watcher] = [cache.topic(T, { name: "w" }), createWatcher()];
    watched.watch(watcher);
    one.sink.unavailable({}, error);
    two.sink.unavailable({}, undefined);
    expect([cache.topic(T, { name: "x" }).stale, watched.stale, watcher.wakes]).toEqual([
      error,
      error,
      1,
    ]);
    one.sink.unavailable({}, undefined);
    expect([cache.topic(T, { name: "x" }).stale, watched.stale, watcher.wakes]).toEqual([
      undefined,
      undefined,
      2,
    ]);
  });
});

describe("addFeed()", () => {
  it("keeps what a feed gave that fails, stale, and tells the error [C-RECON-8]", async () => {
    const events: CacheEvent[] = [];
    const cache = start({
      onEvent: (event) => {
        events.push(event);
      },
    });
    const feed = createFeed();
    const handle = cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    void feed.sink.commit({ put: [put("x")] });
    topic.watch(watcher);
    feed.end(new Error("broken"));
    const error = await handle.ended;
    expect([topic.stale, watcher.wakes, shown(topic.members())]).toEqual([error, 1, ["x=1"]]);
    expect(events.at(-1)).toEqual({ kind: "feed-failed", error });
  });

  it("tells the error of a feed that throws at once", async () => {
    const cache = start();
    const handle = cache.addFeed({
      run: () => {
        throw new Error("at once");
      },
    });
    expect(await handle.ended).toMatchObject({ text: "at once" });
  });

  it("runs a feed again that has failed, later each time until it has committed, and then takes nothing for stale", async () => {
    const clock = createFakeClock();
    const events: CacheEvent[] = [];
    const cache = start({
      clock,
      onEvent: (event) => {
        events.push(event);
      },
    });
    let runs = 0;
    let isWorking = false;
    const handle = cache.addFeed(
      {
        run: async (sink, signal) => {
          runs++;
          if (isWorking) sink.commit({ put: [put("x")] });
          if (!isWorking || runs === 4) throw new Error("no database");
          await new Promise((resolve) => {
            signal.addEventListener("abort", resolve);
          });
        },
      },
      { restart: { initialMs: 100, factor: 3, jitter: 0 } },
    );
    const topic = cache.topic(T, { name: "x" });
    await turn();
    expect(events.at(-1)).toMatchObject({
      kind: "feed-failed",
      error: { text: "no database" },
      retryMs: 100,
    });
    expect(topic.stale).toMatchObject({ text: "no database" });
    clock.advance(100);
    await turn();
    clock.advance(299);
    expect([runs, events.length]).toEqual([2, 2]);
    isWorking = true;
    clock.advance(1);
    await turn();
    expect([runs, topic.stale, shown(topic.members())]).toEqual([3, undefined, ["x=1"]]);
    await handle.close();
    expect([await handle.ended, clock.pending]).toEqual([undefined, 0]);
  });

  it("waits for the first time again after a commit, and ends while it waits", async () => {
    const clock = createFakeClock();
    const waits: unknown[] = [];
    const cache = start({
      clock,
      onEvent: (event) => {
        if (event.kind === "feed-failed") waits.push(event.retryMs);
      },
    });
    let runs = 0;
    const handle = cache.addFeed(
      {
        run: (sink) => {
          if (++runs === 2) sink.commit({});
          return Promise.reject(new Error("oh"));
        },
      },
      { restart: { initialMs: 100, factor: 3, jitter: 0 } },
    );
    await turn();
    for (const ms of [100, 100, 300]) {
      clock.advance(ms);
      await turn();
    }
    expect(waits).toEqual([100, 100, 300, 900]);
    await handle.close();
    expect([runs, clock.pending]).toEqual([4, 0]);
  });

  it("tells a feed that runs again all that is wanted", async () => {
    const clock = createFakeClock();
    const cache = start({ clock });
    const wanted: string[] = [];
    let runs = 0;
    cache.addFeed(
      {
        run: (_, signal) =>
          new Promise((resolve, reject) => {
            if (++runs === 1)
              setImmediate(() => {
                reject(new Error("oh"));
              });
            else
              signal.addEventListener("abort", () => {
                resolve();
              });
          }),
        want: (_, added) => {
          wanted.push(...added.map(({ name }) => name));
        },
      },
      { restart: true },
    );
    cache.topic(T, { name: "x" }).watch(createWatcher());
    await turn();
    await turn();
    clock.advance(2_000);
    await turn();
    expect([runs, wanted]).toEqual([2, ["x", "x"]]);
  });

  it("rejects a transaction whose complete or settled part has no interest, and names the field", () => {
    const cache = start();
    const broken = [{ typeUrl: T }] as unknown as NonNullable<
      Parameters<Cache["commit"]>[0]["complete"]
    >;
    expect(() => cache.commit({ complete: broken })).toThrow(
      "[INVALID_ARGUMENT] complete[0] of the transaction has no interest.name",
    );
    expect(() => cache.commit({ settled: broken })).toThrow(
      "[INVALID_ARGUMENT] settled[0] of the transaction has no interest.name",
    );
  });

  it("rejects a transaction with a put without a resource, or a removal without a name, and names the field", () => {
    const cache = start();
    type Given = Parameters<Cache["commit"]>[0];
    const none = [{ typeUrl: T }];
    const unnamed = [{ typeUrl: T, resource: { payload: { typeUrl: T, value: Buffer.of() } } }];
    const empty = [{ typeUrl: T, resource: { name: "x" } }];
    for (const broken of [none, unnamed, empty])
      expect(() => cache.commit({ put: [put("a"), ...broken] } as unknown as Given)).toThrow(
        "[INVALID_ARGUMENT] put[1] of the transaction has no resource with a name and a payload",
      );
    expect(() => cache.commit({ remove: none } as unknown as Given)).toThrow(
      "[INVALID_ARGUMENT] remove[0] of the transaction has no name",
    );
    expect(cache.counters.resources).toBe(0);
  });

  it("stops a feed by its signal, once, and takes no error of stopping for one", async () => {
    const cache = start();
    const handle = cache.addFeed({
      run: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(new Error("aborted"));
          });
        }),
    });
    await handle[Symbol.asyncDispose]();
    expect(await handle.ended).toBeUndefined();
    await handle.close();
  });

  it("is undone by close(), together with all timers; what is held can be read", async () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, lingerMs: 1000 });
    const feed = createDemandFeed();
    const handle = cache.addFeed(feed);
    const [topic, watcher] = [cache.topic(T, { name: "x" }), createWatcher()];
    topic.watch(watcher);
    await turn();
    void feed.sink.commit({ put: [put("x"), put("unasked")] });
    topic.unwatch(watcher);
    await cache[Symbol.asyncDispose]();
    expect(await handle.ended).toBeUndefined();
    expect([clock.pending, shown(topic.members())]).toEqual([0, ["x=1"]]);
  });
});
