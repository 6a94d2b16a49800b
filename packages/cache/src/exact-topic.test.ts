import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createWatcher, put, show, shown, T } from "../test/scene.ts";
import { createCache } from "./index.ts";

const name = "xdstp://a/t.T/ns/x?a=1&b=2";
const swapped = "xdstp://a/t.T/ns/x?b=2&a=1";

describe("the topic of a name", () => {
  it("follows the resource from missing to existing, changed and removed, and wakes at each step [S-SUB-2, S-REM-1]", () => {
    const cache = createCache();
    cache.commit({});
    const topic = cache.topic(T, { name });
    const watcher = createWatcher();
    topic.watch(watcher);
    expect([topic.settled, ...topic.members().map(show)]).toEqual([true, `${name}-`]);
    const steps = [put(name, "1"), put(name, "2")].map((one) => {
      cache.commit({ put: [one] });
      return [watcher.wakes, topic.head, ...topic.members().map(show)];
    });
    expect(steps).toEqual([
      [1, 2, `${name}=1`],
      [2, 3, `${name}=2`],
    ]);
    cache.commit({ remove: [{ typeUrl: T, name }] });
    expect([watcher.wakes, topic.head, ...topic.members().map(show)]).toEqual([3, 4, `${name}-`]);
  });

  it("is the same object for the same spelling while it is watched, and a new one after", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name });
    const watcher = createWatcher();
    topic.watch(watcher);
    expect(cache.topic(T, { name })).toBe(topic);
    expect(cache.topic(T, { name: swapped })).not.toBe(topic);
    expect(cache.topic(T, { name, parameters: new Map([["k", "v"]]) })).not.toBe(topic);
    topic.unwatch(watcher);
    expect(cache.topic(T, { name })).not.toBe(topic);
  });

  it("keeps nothing of a spelling that nobody watches any more: clients may think of any number [S-LIM-4]", () => {
    const cache = createCache();
    cache.commit({ put: [put(name)] });
    const watchers = [createWatcher(), createWatcher()];
    const topic = cache.topic(T, { name: swapped });
    for (const watcher of watchers) topic.watch(watcher);
    const entry = topic.members()[0];
    const current = (): unknown => cache.topic(T, { name: swapped }).members()[0];
    expect(entry?.name).toBe(swapped);
    topic.unwatch(watchers[0] ?? createWatcher());
    expect(current()).toBe(entry);
    topic.unwatch(watchers[1] ?? createWatcher());
    expect(current()).toEqual(entry);
    expect(current()).not.toBe(entry);
  });

  it.each([name, "xdstp://a/t.T/ns/*", "*"])(
    "has one successor where two objects for %s are watched",
    (text) => {
      const cache = createCache();
      const [one, two] = [cache.topic(T, { name: text }), cache.topic(T, { name: text })];
      const watcher = createWatcher();
      for (const topic of [one, two]) topic.watch(watcher);
      one.unwatch(watcher);
      expect(cache.topic(T, { name: text })).toBe(two);
      cache.commit({ put: [put("x"), put("xdstp://a/t.T/ns/x"), put(name)] });
      expect(watcher.wakes).toBe(1);
      two.unwatch(watcher);
      expect([cache.topic(T, { name: text }) === two, cache.counters.topics]).toEqual([false, 0]);
    },
  );

  it.each([name, swapped, "xdstp://a/t.T/ns/*?a=1&b=2", "*"])(
    "tells every object for %s, in whatever order they go",
    (text) => {
      const wildcard = (_: string, one: string): boolean => one.startsWith("xdstp:");
      for (const order of [
        [0, 1, 2],
        [1, 0, 2],
        [2, 1, 0],
        [1, 2, 0],
      ]) {
        const cache = createCache({ wildcard });
        const objects = [0, 1, 2].map(() => ({
          topic: cache.topic(T, { name: text }),
          watcher: createWatcher(),
        }));
        for (const { topic, watcher } of objects) topic.watch(watcher);
        const wakes = order.map((index, round) => {
          cache.commit({ put: [put(name, String(round))] });
          objects[index]?.topic.unwatch(objects[index].watcher);
          return objects.map(({ watcher }) => watcher.wakes).reduce((sum, one) => sum + one, 0);
        });
        cache.commit({ put: [put(name, "last")] });
        expect([
          wakes,
          objects.map(({ watcher }) => watcher.wakes).reduce((sum, one) => sum + one, 0),
          cache.counters.topics,
        ]).toEqual([[3, 5, 6], 6, 0]);
      }
    },
  );

  it("is left alone by one who goes without having come", () => {
    const cache = createCache();
    const [topic, watcher] = [cache.topic(T, { name }), createWatcher()];
    topic.watch(watcher);
    topic.unwatch(createWatcher());
    expect(cache.counters.topics).toBe(1);
    cache.commit({ put: [put(name)] });
    expect([watcher.wakes, cache.topic(T, { name }) === topic]).toEqual([1, true]);
  });

  it("learns why nothing is there, once for each reason, also where nothing ever was", () => {
    const cache = createCache();
    cache.commit({});
    const topics = ["x", "y"].map((text) => cache.topic(T, { name: text }));
    const star = cache.topic(T, { name: "*" });
    const watcher = createWatcher();
    for (const topic of [...topics, star]) topic.watch(watcher);
    const error = new XdsError("PERMISSION_DENIED", "not yours");
    const remove = [
      { typeUrl: T, name: "x", error },
      { typeUrl: T, name: "y" },
    ];
    cache.commit({ remove });
    cache.commit({ remove });
    expect([
      watcher.wakes,
      topics.map((topic) => topic.head),
      topics[0]?.members()[0]?.error,
    ]).toEqual([1, [2, 1], error]);
    cache.commit({ remove: [{ typeUrl: T, name: "x" }] });
    expect([watcher.wakes, topics[0]?.head, topics[0]?.members()[0]?.error]).toEqual([
      2,
      4,
      undefined,
    ]);
    // Nothing was removed, so a collection has no new entry.
    expect([
      star.head,
      star.changes(1),
      star.removed(),
      topics[0]?.removed(),
      cache.counters.resources,
    ]).toEqual([0, [], [], [], 0]);
  });

  it("answers in the spelling that was asked, and shares the resource [N-42, N-40]", () => {
    const cache = createCache();
    cache.commit({ put: [put(name)] });
    const entries = [name, swapped, "xdstp://a/t.T/ns/%78?a=1&b=2"].map((text) => {
      const entry = cache.topic(T, { name: text }).members()[0];
      expect(entry?.name).toBe(text);
      return entry;
    });
    expect(new Set(entries.map((entry) => entry?.resource)).size).toBe(1);
    expect(cache.topic(T, { name: swapped }).members()[0]).toBe(entries[1]);
    expect(cache.topic(T, { name: swapped }).get(name)).toBe(entries[1]);
    expect(cache.topic(T, { name: "*" }).get(swapped)).toBeUndefined();
    expect(cache.topic(T, { name: "xdstp://a/t.T/ns/*?b=2&a=1" }).get(swapped)).toBe(entries[0]);
    cache.commit({ remove: [{ typeUrl: T, name: "xdstp://a/t.T/ns/%78?a=1&b=2" }] });
    expect(cache.topic(T, { name: swapped }).members().map(show)).toEqual([`${swapped}-`]);
    expect(entries.every((entry) => entry?.superseded)).toBe(true);
  });

  it("keeps the first spelling of a name while it exists, also in what is sent [N-42]", () => {
    const cache = createCache();
    cache.commit({ put: [put(swapped, "1")] });
    cache.commit({ put: [put(name, "2")] });
    const entry = cache.topic(T, { name: "xdstp://a/t.T/ns/*?a=1&b=2" }).members()[0];
    expect([entry?.name, entry?.resource?.name]).toEqual([swapped, swapped]);
    cache.commit({ remove: [{ typeUrl: T, name }] });
    cache.commit({ put: [put(name, "3")] });
    expect(cache.topic(T, { name: "xdstp://a/t.T/ns/*?a=1&b=2" }).members()[0]?.name).toBe(name);
  });

  it("has the same array of changes for every cursor before its entry", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name });
    topic.watch(createWatcher());
    cache.commit({});
    cache.commit({ put: [put("other"), put(name)] });
    const array = topic.changes(0);
    expect(shown(array)).toEqual([`${name}=1`]);
    expect(topic.changes(1)).toBe(array);
    expect(topic.members()).toBe(array);
    expect(topic.changes(2)).toEqual([]);
  });

  it("logs a removal again when its reason changes, and not when it stays", () => {
    const cache = createCache();
    cache.commit({ put: [put(name)] });
    const topic = cache.topic(T, { name });
    const watcher = createWatcher();
    topic.watch(watcher);
    const error = new XdsError("PERMISSION_DENIED", "not yours");
    cache.commit({ remove: [{ typeUrl: T, name }] });
    cache.commit({ remove: [{ typeUrl: T, name, error }] });
    expect([watcher.wakes, topic.head, topic.members()[0]?.error]).toEqual([2, 3, error]);
    cache.commit({ remove: [{ typeUrl: T, name, error }] });
    expect([watcher.wakes, topic.head]).toEqual([2, 3]);
  });

  it("says since when a name exists without a gap [S-ORD-4]", () => {
    const cache = createCache();
    cache.commit({ put: [put(name, "1")] });
    const since = (): number | undefined => cache.topic(T, { name }).members()[0]?.since;
    cache.commit({ put: [put(name, "2")] });
    expect(since()).toBe(1);
    cache.commit({ remove: [{ typeUrl: T, name }] });
    cache.commit({ put: [put(name, "2")] });
    expect(since()).toBe(4);
  });

  it("is settled and empty for the empty name, which nothing can have [S-SUB-6]", () => {
    const cache = createCache();
    cache.commit({});
    expect(cache.topic(T, { name: "" }).members().map(show)).toEqual(["-"]);
    expect(() => cache.put({ typeUrl: T, name: "", value: new Uint8Array() })).toThrow(
      "no resource can have this name",
    );
  });

  it("reads true also while nobody watches", () => {
    const cache = createCache();
    const topic = cache.topic(T, { name });
    expect([topic.settled, topic.head, topic.members().length]).toEqual([false, 0, 0]);
    cache.commit({ put: [put(name)] });
    expect([topic.settled, topic.head, topic.members().map(show).join()]).toEqual([
      true,
      1,
      `${name}=1`,
    ]);
    cache.commit({ remove: [{ typeUrl: T, name }] });
    expect([topic.head, topic.members().map(show).join(), topic.removed().length]).toEqual([
      2,
      `${name}-`,
      1,
    ]);
  });

  it("reads true whatever is read of it first", () => {
    const cache = createCache();
    const fresh = (): ReturnType<typeof cache.topic> => cache.topic(T, { name });
    cache.commit({ put: [put(name)], label: "l" });
    const resource = fresh().members()[0]?.resource;
    expect([
      fresh().head,
      fresh().hash,
      fresh().label,
      fresh().get(name)?.resource,
      fresh().get("other"),
      shown(fresh().changes(0)),
      fresh().changes(1),
      fresh().removed(),
    ]).toEqual([1, resource?.hash, "l", resource, undefined, [`${name}=1`], [], []]);
    cache.commit({ remove: [{ typeUrl: T, name }] });
    expect([fresh().head, fresh().hash, fresh().get(name), fresh().removed().map(show)]).toEqual([
      2,
      0,
      undefined,
      [`${name}-`],
    ]);
  });
});

describe("the topic of a name that cannot be", () => {
  it.each([
    ["of a foreign authority [S-AUTH-8]", "xdstp://b/t.T/x"],
    ["of a glob of a foreign authority [S-AUTH-8]", "xdstp://b/t.T/*"],
    ["of another type [B-TYPE-5]", "xdstp://a/t.U/x"],
    ["of a glob of another type [B-TYPE-5]", "xdstp://a/t.U/*"],
    ["of a glob of collections [B-TYPE-6]", "xdstp://a/t.TCollection/*"],
    ["with a fragment [N-18]", "xdstp://a/t.T/x#entry=y"],
    ["that does not parse [N-05]", "xdstp://a/t.T/%zz"],
  ])("%s is settled at once, missing in the spelling received", (_, text) => {
    const cache = createCache({ authorities: ["a"] });
    const topic = cache.topic(T, { name: text });
    expect([topic.settled, topic.hash, ...topic.members().map(show)]).toEqual([
      true,
      0,
      `${text}-`,
    ]);
    const watcher = createWatcher();
    topic.watch(watcher);
    expect(cache.topic(T, { name: text })).toBe(topic);
    cache.commit({});
    expect([watcher.wakes, topic.get(text), topic.removed()]).toEqual([0, undefined, []]);
    const late = cache.topic(T, { name: text, parameters: new Map([["k", "v"]]) });
    expect([topic.head, late.head, shown(late.changes(0)), late.changes(1)]).toEqual([
      0,
      1,
      [`${text}-`],
      [],
    ]);
    expect(cache.commit({ put: [put(text)] }).rejected).toHaveLength(1);
  });

  it("does not include the list collection of the type [B-TYPE-6]", () => {
    const cache = createCache();
    const collection = "xdstp://a/t.TCollection/x";
    cache.put({
      typeUrl: T,
      name: collection,
      payloadTypeUrl: `${T}Collection`,
      value: new Uint8Array(),
    });
    expect(cache.topic(T, { name: collection }).members().map(show)).toEqual([`${collection}=`]);
  });
});
