import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createWatcher, put, shown, T } from "../test/scene.ts";
import { createCache, type CacheEvent } from "./index.ts";

function scene(): {
  cache: ReturnType<typeof createCache>;
  topic: ReturnType<ReturnType<typeof createCache>["topic"]>;
  watcher: ReturnType<typeof createWatcher>;
} {
  const cache = createCache();
  cache.commit({});
  const topic = cache.topic(T, { name: "alias" });
  const watcher = createWatcher();
  topic.watch(watcher);
  return { cache, topic, watcher };
}

describe("aliases", () => {
  it("lead to the resource under its real name, with its aliases [S-ALIAS-1]", () => {
    const { cache, topic, watcher } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias", "other"] })] });
    expect([watcher.wakes, shown(topic.members())]).toEqual([1, ["real=1"]]);
    expect(topic.members()[0]).toBe(cache.topic(T, { name: "real" }).members()[0]);
    expect(topic.members()[0]?.resource?.aliases).toEqual(["alias", "other"]);
    expect([topic.get("alias"), topic.get("real"), topic.get("other")]).toEqual([
      topic.members()[0],
      topic.members()[0],
      undefined,
    ]);
    expect(shown(cache.topic(T, { name: "other" }).members())).toEqual(["real=1"]);
    cache.commit({ put: [put("real", "2", { aliases: ["alias"] })] });
    expect([
      watcher.wakes,
      shown(topic.changes(2)),
      shown(cache.topic(T, { name: "other" }).members()),
    ]).toEqual([2, ["real=2"], ["other-"]]);
  });

  it("that lead nowhere are missing under the alias [S-ALIAS-2]", () => {
    const { topic } = scene();
    expect(shown(topic.members())).toEqual(["alias-"]);
  });

  it("tell the label of the transaction that removed what they stood for before, and wake once for all of it [S-ALIAS-1]", () => {
    const { cache, topic, watcher } = scene();
    cache.commit({
      put: [put("a", "1", { aliases: ["alias"] }), put("b", "1", { aliases: ["alias"] })],
      label: "both",
    });
    cache.commit({ put: [put("a")], label: "moved" });
    cache.commit({ remove: [{ typeUrl: T, name: "a" }], label: "gone" });
    expect([shown(topic.changes(3)), topic.head, topic.label, watcher.wakes]).toEqual([
      ["a-"],
      4,
      "gone",
      3,
    ]);
    cache.commit({ put: [put("b", "2", { aliases: ["alias"] })] });
    expect([shown(topic.changes(4)), topic.head, topic.label]).toEqual([["b=2"], 5, undefined]);
  });

  it("tell of a removal under the real name and under the alias [S-ALIAS-1, S-ALIAS-2]", () => {
    const { cache, topic } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    cache.commit({ remove: [{ typeUrl: T, name: "real" }] });
    expect(shown(topic.changes(2))).toEqual(["real-", "alias-"]);
    expect(topic.changes(2)).toBe(topic.changes(1));
    expect(shown(topic.removed())).toEqual(["real-"]);
    expect(shown(topic.members())).toEqual(["alias-"]);
  });

  it("tell of a removal although the resource had given the alias up before", () => {
    const { cache, topic, watcher } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    cache.commit({ put: [put("real", "1")] });
    expect([watcher.wakes, shown(topic.changes(2))]).toEqual([2, ["alias-"]]);
    cache.commit({ remove: [{ typeUrl: T, name: "real" }] });
    expect([watcher.wakes, topic.head, shown(topic.changes(3))]).toEqual([3, 4, ["real-"]]);
  });

  it("end with their own removal, and come back with the same state of the resource [C-ALIAS-6]", () => {
    const { cache, topic, watcher } = scene();
    const real = cache.topic(T, { name: "real" });
    const both = put("real", "1", { aliases: ["alias", "other"] });
    cache.commit({ put: [both] });
    cache.commit({ remove: [{ typeUrl: T, name: "alias" }] });
    const after = [topic, real, cache.topic(T, { name: "other" })].map((one) =>
      shown(one.members()),
    );
    expect([watcher.wakes, shown(topic.changes(2)), after]).toEqual([
      2,
      ["alias-"],
      [["alias-"], ["real=1"], ["real=1"]],
    ]);
    cache.commit({ put: [both] });
    expect([watcher.wakes, shown(topic.members())]).toEqual([3, ["real=1"]]);
  });

  it("stay ended while the resource is only given a new entry, and show why they are removed [C-ALIAS-6]", () => {
    const { cache, topic } = scene();
    cache.topic(T, { name: "other" }).watch(createWatcher());
    cache.commit({ put: [put("real", "1", { aliases: ["alias", "other"] })] });
    const error = new XdsError("PERMISSION_DENIED", "not for you");
    cache.commit({ remove: [{ typeUrl: T, name: "alias", error }] });
    cache.commit({ put: [put("other", "own")] });
    cache.commit({ remove: [{ typeUrl: T, name: "other" }] });
    expect(shown(cache.topic(T, { name: "other" }).members())).toEqual(["real=1"]);
    expect([shown(topic.members()), topic.members()[0]?.error]).toEqual([["alias-"], error]);
  });

  it("do not end with a removal next to a state that lists them, and do with one next to a rejected state [C-ALIAS-6]", () => {
    const cache = createCache({
      types: [
        {
          typeUrl: T,
          validate: ({ version }) =>
            version === "bad" ? new XdsError("INVALID_ARGUMENT", "bad") : undefined,
        },
      ],
    });
    const remove = [{ typeUrl: T, name: "alias" }];
    const shownAfter = (version: string, aliases: readonly string[]): ReturnType<typeof shown> => {
      cache.commit({ put: [put("real", "2", { version, aliases })], remove });
      return shown(cache.topic(T, { name: "alias" }).members());
    };
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    expect(shownAfter("good", ["alias"])).toEqual(["real=2"]);
    expect(shownAfter("bad", [])).toEqual(["alias-"]);
  });

  it("do not end with a removal of another feed [C-ALIAS-6]", () => {
    const { cache, topic } = scene();
    cache.addFeed({
      run: (sink) => {
        sink.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
        return new Promise(() => undefined);
      },
    });
    cache.commit({ remove: [{ typeUrl: T, name: "alias" }] });
    expect(shown(topic.members())).toEqual(["real=1"]);
  });

  it("give way to a resource of that very name, and step in when it goes [S-ALIAS-1]", () => {
    const { cache, topic } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    cache.commit({ put: [put("alias", "own")] });
    expect(shown(topic.changes(2))).toEqual(["alias=own"]);
    cache.commit({ remove: [{ typeUrl: T, name: "alias" }] });
    // A reader that has already read the old entry of `real` needs a new one.
    expect(shown(topic.changes(3))).toEqual(["alias-", "real=1"]);
    expect(topic.members()[0]?.since).toBe(2);
  });

  it("that several resources have lead to the first by name, in every replica", () => {
    const { cache, topic } = scene();
    cache.commit({
      put: [put("b", "1", { aliases: ["alias"] }), put("c", "1", { aliases: ["alias"] })],
    });
    cache.commit({ put: [put("a", "1", { aliases: ["alias"] })] });
    expect(shown(topic.members())).toEqual(["a=1"]);
    cache.commit({ remove: [{ typeUrl: T, name: "a" }] });
    expect(shown(topic.changes(3))).toEqual(["a-", "b=1"]);
  });

  it("tell of each resource that they led to and that went, in order, until it is back [S-ALIAS-1]", () => {
    const { cache, topic } = scene();
    for (const name of ["c", "b", "a"])
      cache.commit({ put: [put(name, "1", { aliases: ["alias"] })] });
    expect([shown(topic.members()), shown(topic.changes(1)), topic.removed()]).toEqual([
      ["a=1"],
      ["a=1"],
      [],
    ]);
    cache.commit({ remove: [{ typeUrl: T, name: "b" }] });
    cache.commit({ put: [put("a", "2", { aliases: ["alias"] })] });
    cache.commit({ remove: [{ typeUrl: T, name: "c" }] });
    expect([shown(topic.changes(4)), shown(topic.changes(5)), shown(topic.changes(6))]).toEqual([
      ["b-", "a=2", "c-"],
      ["a=2", "c-"],
      ["c-"],
    ]);
    expect([topic.changes(3), topic.changes(5)]).toEqual([topic.changes(4), topic.changes(5)]);
    expect(topic.changes(3)).toBe(topic.changes(4));
    expect([topic.head, shown(topic.removed())]).toEqual([7, ["b-", "c-"]]);
    cache.commit({ put: [put("c", "2")] });
    expect([topic.head, shown(topic.changes(4)), shown(topic.removed())]).toEqual([
      8,
      ["b-", "a=2"],
      ["b-"],
    ]);
  });

  it("that replace a resource of that very name tell that it went [S-ALIAS-1]", () => {
    const { cache, topic } = scene();
    cache.commit({ put: [put("alias", "own")] });
    cache.commit({
      remove: [{ typeUrl: T, name: "alias" }],
      put: [put("real", "1", { aliases: ["alias"] })],
    });
    expect([shown(topic.changes(2)), shown(topic.members())]).toEqual([
      ["alias-", "real=1"],
      ["real=1"],
    ]);
  });

  it("that step in long after a resource of that very name went still tell a slow reader of it [S-ALIAS-1]", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 1000 });
    const [topic, other] = ["alias", "other"].map((name) => cache.topic(T, { name }));
    for (const one of [topic, other]) one?.watch(createWatcher());
    cache.commit({ put: [put("alias", "own")] });
    cache.commit({ remove: [{ typeUrl: T, name: "alias" }] });
    clock.advance(1000);
    cache.commit({});
    expect([cache.counters.tombstones, shown(topic?.members())]).toEqual([0, ["alias-"]]);
    cache.commit({ put: [put("real", "1", { aliases: ["alias", "other"] })] });
    expect([shown(topic?.changes(1)), shown(topic?.changes(2)), shown(other?.changes(1))]).toEqual([
      ["alias-", "real=1"],
      ["real=1"],
      ["real=1"],
    ]);
  });

  it("that led nowhere before tell of no removal when they lead somewhere", () => {
    const { cache, topic } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    expect([shown(topic.changes(0)), topic.removed()]).toEqual([["real=1"], []]);
  });

  it("are told of a removal each, though several led to the resource before and one has been left [S-ALIAS-1]", () => {
    const cache = createCache();
    cache.commit({ put: [put("real", "1", { aliases: ["one", "two", "three"] })] });
    const topics = ["one", "two", "three"].map((name) => cache.topic(T, { name }));
    const watchers = topics.map((topic) => {
      const watcher = createWatcher();
      topic.watch(watcher);
      return watcher;
    });
    cache.commit({ put: [put("real", "1")] });
    topics[2]?.unwatch(watchers[2] ?? createWatcher());
    cache.commit({ remove: [{ typeUrl: T, name: "real" }] });
    expect([
      watchers.map(({ wakes }) => wakes),
      shown(topics[0]?.changes(2)),
      shown(topics[1]?.changes(2)),
    ]).toEqual([[2, 2, 1], ["real-"], ["real-"]]);
  });

  it("wake once for a transaction that moves them more than once", () => {
    const { cache, topic, watcher } = scene();
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    cache.commit({
      put: [put("other", "1", { aliases: ["alias"] }), put("alias", "own")],
      remove: [{ typeUrl: T, name: "real" }],
    });
    expect([watcher.wakes, shown(topic.changes(2))]).toEqual([2, ["real-", "alias=own"]]);
  });

  it("of an xdstp name are ignored with a warning [B-ALIAS-4]", () => {
    const events: CacheEvent[] = [];
    const cache = createCache({
      onEvent: (event) => {
        events.push(event);
      },
    });
    const name = "xdstp://a/t.T/x";
    cache.commit({ put: [put(name, "1", { aliases: ["alias"] })] });
    expect(shown(cache.topic(T, { name: "alias" }).members())).toEqual(["alias-"]);
    expect(cache.topic(T, { name }).members()[0]?.resource?.aliases).toBeUndefined();
    expect(events).toContainEqual({ kind: "aliases-ignored", typeUrl: T, name });
    expect(cache.counters.ignoredAliases).toBe(1);
    const version = cache.topic(T, { name }).members()[0]?.resource?.version;
    cache.commit({ put: [put(name, "1")] });
    expect([
      cache.topic(T, { name }).head,
      cache.topic(T, { name }).members()[0]?.resource?.version,
    ]).toEqual([1, version]);
  });
});
