import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createWatcher, put, show, shown, T } from "../test/scene.ts";
import { createCache } from "./index.ts";

const glob = "xdstp://a/t.T/ns/*";
const ns = (id: string): string => `xdstp://a/t.T/ns/${id}`;
const gone = (id: string): { typeUrl: string; name: string } => ({ typeUrl: T, name: ns(id) });

describe("the topic of a glob", () => {
  it("has the members that share its parent and parameters, and no others [S-GLOB-1, S-GLOB-4, N-51]", () => {
    const cache = createCache();
    const members = [ns("a"), ns("b"), ns("~c")];
    const others = [
      "xdstp://a/t.T/ns",
      "xdstp://a/t.T/nsx/a",
      ns("a/b"),
      ns("/b"),
      ns("a?k=v"),
      "xdstp://b/t.T/ns/a",
      "ns/a",
      "/ns/a",
    ];
    cache.commit({ put: [...members, ...others].map((name) => put(name)) });
    expect(shown(cache.topic(T, { name: glob }).members())).toEqual(
      members.map((name) => `${name}=1`),
    );
    expect(shown(cache.topic(T, { name: `${glob}?k=v` }).members())).toEqual([`${ns("a?k=v")}=1`]);
  });

  it("tells of each member by itself, under its own name [S-GLOB-2, S-GLOB-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("a")), put(ns("b"))] });
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ put: [put(ns("c"))] });
    cache.commit({ remove: [gone("a")] });
    expect(shown(topic.changes(1))).toEqual([`${ns("c")}=1`, `${ns("a")}-`]);
    expect(shown(topic.changes(2))).toEqual([`${ns("a")}-`]);
    expect(topic.get(ns("a"))).toBeUndefined();
    expect(topic.get(ns("%62"))).toBe(topic.members()[0]);
    expect(topic.get("xdstp://a/t.T/b")).toBeUndefined();
  });

  it("says that it is empty under its own URL, at first and each time it becomes so [S-GLOB-3]", () => {
    const cache = createCache();
    cache.commit({});
    const spelled = "xdstp://a/t.T/ns/%2A";
    const topics = [glob, spelled].map((name) => cache.topic(T, { name }));
    for (const topic of topics) topic.watch(createWatcher());
    expect(topics.map((topic) => shown(topic.members()))).toEqual([[`${glob}-`], [`${spelled}-`]]);
    cache.commit({ put: [put(ns("a"))] });
    expect(topics.map((topic) => shown(topic.changes(0)))).toEqual([
      [`${ns("a")}=1`],
      [`${ns("a")}=1`],
    ]);
    cache.commit({ remove: [gone("a")] });
    expect(topics.map((topic) => shown(topic.changes(2)))).toEqual([
      [`${ns("a")}-`, `${glob}-`],
      [`${ns("a")}-`, `${spelled}-`],
    ]);
  });

  it("says why it is empty, once for each reason, to who comes later too, until it has a member or is just empty [S-ERR-5] [S-ERR-1]", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    const watcher = createWatcher();
    topic.watch(watcher);
    const forbidden = new XdsError("PERMISSION_DENIED", "not for you");
    const settle = (error?: XdsError, more: { readonly timedOut?: boolean } = {}): void => {
      cache.commit({
        settled: [{ typeUrl: T, interest: { name: glob }, ...(error && { error }), ...more }],
      });
    };
    const why = (): unknown =>
      topic
        .members()
        .map(({ name, resource, error }) => [name, resource === undefined, error?.text]);
    const told = (): number => {
      const { head } = topic;
      return topic.changes(head - 1)?.length ?? -1;
    };
    settle(forbidden);
    expect([why(), told(), topic.head]).toEqual([[[glob, true, "not for you"]], 1, 1]);
    const [first] = topic.members();
    settle(new XdsError("PERMISSION_DENIED", "not for you"));
    settle(undefined, { timedOut: true });
    expect([topic.members()[0], topic.head]).toEqual([first, 1]);
    const late = cache.topic(T, { name: "xdstp://a/t.T/ns/%2A" });
    expect([late.settled, late.members()[0]?.error]).toEqual([true, forbidden]);
    settle(new XdsError("PERMISSION_DENIED", "nor for others"));
    expect([why(), first?.superseded]).toEqual([[[glob, true, "nor for others"]], true]);
    expect(late.members()[0]?.error?.text).toBe("nor for others");
    settle();
    expect([why(), told()]).toEqual([[[glob, true, undefined]], 1]);
    settle(forbidden);
    cache.commit({ put: [put(ns("a"))] });
    expect(shown(topic.members())).toEqual([`${ns("a")}=1`]);
    cache.commit({ remove: [gone("a")] });
    expect(why()).toEqual([[glob, true, undefined]]);
  });

  it("keeps why it is empty for subscribers to come, until it has a member [S-ERR-5] [S-ERR-1]", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("a"))] });
    const forbidden = new XdsError("PERMISSION_DENIED", "not for you");
    const why = (): unknown =>
      cache
        .topic(T, { name: glob })
        .members()
        .map(({ name, error }) => [name, error?.text]);
    cache.commit({ complete: [{ typeUrl: T, interest: { name: glob }, error: forbidden }] });
    expect(why()).toEqual([[glob, "not for you"]]);
    cache.commit({ put: [put("xdstp://a/t.T/other/x")] });
    expect(why()).toEqual([[glob, "not for you"]]);
    cache.commit({ put: [put(ns("a"))] });
    cache.commit({ remove: [gone("a")] });
    expect(why()).toEqual([[glob, undefined]]);
  });

  it("keeps why it is empty of no more globs than removals, without subscribers [S-ERR-5] [S-LIM-6]", () => {
    const tombstoneCount = 4;
    const cache = createCache({ tombstoneCount });
    cache.commit({});
    const globs = Array.from({ length: 100 }, (_, id) => `xdstp://a/t.T/${id}/*`);
    const [watched = "", ...others] = globs;
    const [topic, watcher] = [cache.topic(T, { name: watched }), createWatcher()];
    topic.watch(watcher);
    const error = new XdsError("PERMISSION_DENIED", "not for you");
    const explained = (): readonly string[] =>
      globs.filter((name) => cache.topic(T, { name }).members()[0]?.error !== undefined);
    for (const name of globs) cache.commit({ remove: [{ typeUrl: T, name, error }] });
    expect(explained()[0]).toBe(watched);
    expect(explained().length).toBeLessThanOrEqual(1 + 2 * tombstoneCount);
    expect(explained().at(-1)).toBe(globs.at(-1));
    topic.unwatch(watcher);
    for (const name of others) cache.commit({ remove: [{ typeUrl: T, name, error }] });
    expect(explained()).not.toContain(watched);
  });

  it("takes the error of its removal as why it is empty, with or without subscribers [S-ERR-5] [S-ERR-3]", () => {
    for (const isWatched of [true, false]) {
      const cache = createCache();
      cache.commit({ put: [put(ns("a"))] });
      const topic = cache.topic(T, { name: glob });
      if (isWatched) topic.watch(createWatcher());
      const forbidden = new XdsError("PERMISSION_DENIED", "not for you");
      cache.commit({ remove: [gone("a"), { typeUrl: T, name: glob, error: forbidden }] });
      expect(topic.members().map(({ name, error }) => [name, error?.text])).toEqual([
        [glob, "not for you"],
      ]);
      cache.commit({ put: [put(ns("b"))] });
      expect(shown(topic.members())).toEqual([`${ns("b")}=1`]);
    }
  });

  it("takes back that it is empty when a member comes, also within one transaction", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("a"))] });
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ remove: [gone("a")] });
    const empty = topic.members()[0];
    cache.commit({ put: [put(ns("b"))] });
    expect(empty?.superseded).toBe(true);
    cache.commit({ remove: [gone("b")], put: [put(ns("c"))] });
    expect(shown(topic.changes(1))).toEqual([`${ns("a")}-`, `${ns("c")}=1`, `${ns("b")}-`]);
  });

  it("has one array for all readers in the same state, also with cursors of other types, until it moves", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ put: [put(ns("a"))] });
    cache.commit({ put: [put("opaque")] });
    cache.commit({ put: [put("opaque", "2")] });
    cache.commit({ put: [put(ns("b"))] });
    const array = topic.changes(1);
    expect(shown(array)).toEqual([`${ns("b")}=1`]);
    expect([topic.changes(2), topic.changes(3)]).toEqual([array, array]);
    expect(topic.changes(2)).toBe(array);
    expect(topic.changes(3)).toBe(array);
    const members = topic.members();
    cache.commit({ put: [put("opaque", "3")] });
    expect(topic.changes(3)).toBe(array);
    expect(topic.members()).toBe(members);
    cache.commit({ put: [put(ns("b"), "2")] });
    expect(topic.changes(3)).not.toBe(array);
    expect(topic.members()).not.toBe(members);
    expect(shown(array)).toEqual([`${ns("b")}=1`]);
  });

  it("has each name once, at its newest, however often it changed [S-DSUB-10]", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ put: [put(ns("a")), put(ns("b"))] });
    for (let i = 0; i < 1000; i++) cache.commit({ put: [put(ns("a"), String(i))] });
    expect(shown(topic.changes(0))).toEqual([`${ns("b")}=1`, `${ns("a")}=999`]);
    expect(shown(topic.changes(500))).toEqual([`${ns("a")}=999`]);
    expect(topic.changes(500)).toBe(topic.changes(900));
  });

  it("shares the entries with every other topic of the same spelling", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("a"))] });
    const [entry] = cache.topic(T, { name: glob }).members();
    expect(cache.topic(T, { name: "*" }).members()[0]).toBe(entry);
    expect(cache.topic(T, { name: ns("a") }).members()[0]).toBe(entry);
  });

  it("wakes once for a transaction, after all of it is visible", () => {
    const cache = createCache();
    const seen: (readonly string[] | undefined)[] = [];
    const other = cache.topic(T, { name: "late" });
    other.watch(createWatcher());
    const topic = cache.topic(T, { name: glob });
    topic.watch(
      createWatcher(() => {
        seen.push([...topic.members(), ...other.members()].map(show));
      }),
    );
    cache.commit({ put: [put(ns("a")), put(ns("b")), put("late")] });
    expect(seen).toEqual([[`${ns("a")}=1`, `${ns("b")}=1`, "late=1"]]);
  });

  it("counts a watcher once, and calls none that has left", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    const [one, two] = [createWatcher(), createWatcher()];
    for (const watcher of [one, one, two, two]) topic.watch(watcher);
    cache.commit({ put: [put(ns("a"))] });
    topic.unwatch(two);
    topic.unwatch(two);
    cache.commit({ put: [put(ns("b"))] });
    topic.unwatch(one);
    cache.commit({ put: [put(ns("c"))] });
    expect([one.wakes, two.wakes]).toEqual([2, 1]);
  });

  it("reads true also while nobody watches, and keeps its arrays while nothing moves", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    expect([topic.settled, topic.head, topic.members()]).toEqual([false, 0, []]);
    cache.commit({ put: [put(ns("a")), put(ns("b"))] });
    const members = topic.members();
    cache.commit({ put: [put("opaque")] });
    expect([topic.settled, topic.head]).toEqual([true, 1]);
    expect(topic.members()).toBe(members);
    cache.commit({ remove: [gone("a")] });
    expect([
      topic.head,
      shown(topic.members()),
      shown(topic.changes(1)),
      shown(topic.changes(0)),
    ]).toEqual([3, [`${ns("b")}=1`], [`${ns("a")}-`], [`${ns("b")}=1`, `${ns("a")}-`]]);
  });

  it("reads true whatever is read of it first", () => {
    const cache = createCache();
    const fresh = (): ReturnType<typeof cache.topic> => cache.topic(T, { name: glob });
    cache.commit({ put: [put(ns("a"))] });
    const hash = cache.topic(T, { name: ns("a") }).members()[0]?.resource?.hash;
    expect([fresh().settled, fresh().head, fresh().hash, shown(fresh().changes(0))]).toEqual([
      true,
      1,
      hash,
      [`${ns("a")}=1`],
    ]);
    const topic = fresh();
    expect(shown(topic.changes(0))).toEqual([`${ns("a")}=1`]);
    cache.commit({ put: [put(ns("a"), "2")] });
    expect(shown(topic.changes(0))).toEqual([`${ns("a")}=2`]);
  });

  it("does not say again that it is empty when a removal gets another reason [S-GLOB-3]", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("a"))] });
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ remove: [gone("a")] });
    cache.commit({ remove: [{ ...gone("a"), error: new XdsError("NOT_FOUND", "why") }] });
    expect([shown(topic.changes(1)), shown(topic.changes(2))]).toEqual([
      [`${glob}-`, `${ns("a")}-`],
      [`${ns("a")}-`],
    ]);
  });

  it("stays right for a reader that leaves and comes back to the same object", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: glob });
    const watcher = createWatcher();
    topic.watch(watcher);
    cache.commit({ put: [put(ns("a"))] });
    topic.unwatch(watcher);
    cache.commit({ put: [put(ns("b"))] });
    topic.watch(watcher);
    cache.commit({ put: [put(ns("c"))] });
    expect([watcher.wakes, topic.members().length, shown(topic.changes(1))]).toEqual([
      2,
      3,
      [`${ns("b")}=1`, `${ns("c")}=1`],
    ]);
  });
});

describe("the wildcard topic", () => {
  it("covers opaque names and names without parameters of the authorities answered for [S-WILD-8]", () => {
    const cache = createCache({ authorities: ["a"] });
    const { rejected } = cache.commit({
      put: ["opaque", "foo/*", ns("a"), ns("a?k=v"), "xdstp://b/t.T/x"].map((name) => put(name)),
    });
    expect(rejected?.map(({ name }) => name)).toEqual(["xdstp://b/t.T/x"]);
    expect(shown(cache.topic(T, { name: "*" }).members())).toEqual([
      "opaque=1",
      "foo/*=1",
      `${ns("a")}=1`,
    ]);
  });

  it("covers what the option says instead [S-WILD-8]", () => {
    const cache = createCache({ wildcard: (typeUrl, name) => typeUrl === T && name.includes("?") });
    cache.commit({ put: ["opaque", ns("a"), ns("a?k=v")].map((name) => put(name)) });
    expect(shown(cache.topic(T, { name: "*" }).members())).toEqual([`${ns("a?k=v")}=1`]);
  });

  it("is settled and empty without an entry of its own [S-WILD-7]", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name: "*" });
    const watcher = createWatcher();
    topic.watch(watcher);
    expect(topic.settled).toBe(false);
    cache.commit({});
    expect([topic.settled, topic.head, watcher.wakes, topic.members(), topic.changes(0)]).toEqual([
      true,
      1,
      1,
      [],
      [],
    ]);
  });
});

describe("removals", () => {
  it("are given to readers within the window, and then history is gone [S-RECON-10]", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 1000 });
    cache.commit({ put: [put(ns("a")), put(ns("b")), put("xdstp://a/t.T/other/a")] });
    const [topic, other] = [glob, "xdstp://a/t.T/other/*"].map((name) => cache.topic(T, { name }));
    for (const one of [topic, other]) one?.watch(createWatcher());
    cache.commit({ remove: [gone("a")] });
    clock.advance(999);
    cache.commit({});
    expect(shown(topic?.changes(1))).toEqual([`${ns("a")}-`]);
    expect(shown(topic?.removed())).toEqual([`${ns("a")}-`]);
    clock.advance(1);
    expect(topic?.removed()).toEqual([]);
    cache.commit({ put: [put(ns("c")), put("xdstp://a/t.T/other/a", "2")] });
    expect(topic?.changes(1)).toBeUndefined();
    expect(shown(topic?.changes(2))).toEqual([`${ns("c")}=1`]);
    // A topic without changes does not lose its history through the removals of another topic.
    expect(shown(other?.changes(1))).toEqual(["xdstp://a/t.T/other/a=2"]);
    expect(cache.counters.tombstones).toBe(0);
  });

  it("are given also to a topic that was not watched when they happened, but not to the next of the same parent after the window [S-RECON-10]", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 1000 });
    cache.commit({ put: [put(ns("a"))] });
    cache.commit({ remove: [gone("a")] });
    expect(shown(cache.topic(T, { name: glob }).removed())).toEqual([`${ns("a")}-`]);
    expect(shown(cache.topic(T, { name: "*" }).removed())).toEqual([`${ns("a")}-`]);
    expect(shown(cache.topic(T, { name: glob }).changes(1))).toEqual([`${ns("a")}-`, `${glob}-`]);
    clock.advance(1000);
    cache.commit({});
    const late = cache.topic(T, { name: glob });
    expect([late.removed(), late.changes(1)]).toEqual([[], undefined]);
  });

  it("are bounded in number, the oldest go first", () => {
    const cache = createCache({ tombstoneCount: 3 });
    const ids = Array.from({ length: 10 }, (_, index) => `n${index}`);
    cache.commit({ put: ids.map((id) => put(ns(id))) });
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    for (const id of ids) cache.commit({ remove: [gone(id)] });
    cache.commit({});
    expect(topic.removed().map(({ name }) => name)).toEqual(["n7", "n8", "n9"].map(ns));
    expect(topic.changes(7)).toBeUndefined();
    expect(topic.changes(8)).toHaveLength(4);
    expect(cache.counters.tombstones).toBe(3);
  });

  it("do not count, and are not shown, once the name is back", () => {
    const cache = createCache({ tombstoneCount: 2 });
    cache.commit({ put: [put(ns("a")), put(ns("b"))] });
    const topic = cache.topic(T, { name: glob });
    topic.watch(createWatcher());
    cache.commit({ remove: [gone("b")] });
    for (let i = 0; i < 500; i++) {
      cache.commit({ remove: [gone("a")] });
      cache.commit({ put: [put(ns("a"))] });
    }
    expect(cache.counters).toMatchObject({ tombstones: 1, resources: 1 });
    expect(shown(topic.removed())).toEqual([`${ns("b")}-`]);
    expect(shown(topic.changes(1))).toEqual([`${ns("b")}-`, `${ns("a")}=1`]);
  });

  it("bear the spelling that readers know [S-GLOB-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put(ns("%61"))] });
    cache.commit({ remove: [gone("a")] });
    expect(shown(cache.topic(T, { name: glob }).removed())).toEqual([`${ns("%61")}-`]);
  });
});
