import type { Constraints, Entry, Interest, Put, Topic } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createDemandFeed, createWatcher, put, T } from "../../test/scene.ts";
import { asked, both, either, has, is, not, limitedTo, showVariant } from "../../test/variants.ts";
import { createCache, type Cache } from "../index.ts";
import type { CacheEvent } from "../cache-event.ts";

const prod = is("env", "prod");
const test = is("env", "test");
const GLOB = "xdstp://a/t.T/ns/*";
const MEMBER = "xdstp://a/t.T/ns/x";

function show(entries: readonly Entry[] | undefined): readonly string[] | undefined {
  return entries?.map(showVariant);
}

function watched(cache: Cache, interest: Interest): Topic {
  const topic = cache.topic(T, interest);
  topic.watch(createWatcher());
  return topic;
}

describe("a name with variants", () => {
  it("is to each reader the one that matches, whatever else it says of itself [B-DYN-3, S-DYN-2]", () => {
    const cache = createCache();
    cache.commit({
      put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test)), put("other")],
    });
    for (const topicOf of [cache.topic.bind(cache, T), watched.bind(undefined, cache)]) {
      expect(show(topicOf(asked("n", { env: "prod", version: "v1" })).members())).toEqual([
        "n{env=prod}=1",
      ]);
      expect(show(topicOf(asked("n", { env: "test" })).members())).toEqual(["n{env=test}=2"]);
      expect(show(topicOf(asked("n", { env: "qa" })).members())).toEqual(["n-"]);
      expect(show(topicOf({ name: "n" }).members())).toEqual(["n-"]);
      expect(show(topicOf(asked("*", { env: "test" })).members())).toEqual([
        "other=1",
        "n{env=test}=2",
      ]);
      expect(show(topicOf({ name: "*" }).members())).toEqual(["other=1"]);
    }
    expect([cache.counters.resources, [...cache.held(T)].length]).toEqual([3, 3]);
  });

  it("says that the one for everyone went, beside another that went before it [S-DYN-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1")] });
    const topic = watched(cache, asked("n", { env: "prod" }));
    cache.commit({ put: [put("n", "2", limitedTo(prod))], remove: [{ typeUrl: T, name: "n" }] });
    cache.commit({ put: [put("n", "3")], remove: [{ typeUrl: T, name: "n", ...limitedTo(prod) }] });
    cache.remove(T, "n");
    expect(show(topic.changes(1))).toEqual(["n{env=prod}-", "n-"]);
    expect(show(topic.changes(3))).toEqual(["n-"]);
    expect(show(topic.changes(4))).toEqual([]);
  });

  it.each([asked("n", { env: "prod" }), asked("*", { env: "prod" })])(
    "says with the new one which one it replaces, to %j only if that concerns it [S-DYN-5]",
    (interest) => {
      const cache = createCache();
      cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))] });
      const topic = watched(cache, interest);
      const next = both(prod, is("version", "v1"));
      const rest = both(prod, not(is("version", "v1")));
      cache.transaction(({ put: add, remove }) => {
        remove(T, "n", limitedTo(prod));
        remove(T, "n", limitedTo(test));
        for (const [index, one] of [next, rest].entries())
          add({ typeUrl: T, name: "n", value: Uint8Array.of(97 + index), ...limitedTo(one) });
      });
      expect(show(topic.changes(1))).toEqual([
        "n{env=prod}-",
        "n{and(env=prod, not(version=v1))}=b",
      ]);
      expect(topic.changes(1)).toBe(topic.changes(1));
      expect(cache.counters.overlappingVariants).toBe(0);
      expect(show(topic.members())).toEqual(["n{and(env=prod, not(version=v1))}=b"]);
      expect(show(topic.gone?.("n"))).toEqual(["n{env=prod}-"]);
      cache.remove(T, "n", limitedTo(rest));
      expect(show(topic.changes(2))).toEqual(["n{and(env=prod, not(version=v1))}-"]);
      expect(show(topic.changes(1))).toEqual([
        "n{env=prod}-",
        "n{and(env=prod, not(version=v1))}-",
      ]);
      expect(show(topic.members())).toEqual(interest.name === "*" ? [] : ["n-"]);
      expect(topic.hash).toBe(0);
    },
  );

  it("wakes only those whose variant has changed", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))] });
    const watchers = ["prod", "test"].map((env) =>
      ["n", "*"].map((name) => {
        const watcher = createWatcher();
        cache.topic(T, asked(name, { env })).watch(watcher);
        return watcher;
      }),
    );
    cache.commit({ put: [put("n", "3", limitedTo(prod))] });
    expect(watchers.map((pair) => pair.map(({ wakes }) => wakes))).toEqual([
      [1, 1],
      [0, 0],
    ]);
  });

  it("gives those who are shown the same the same array, so that they share frames", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))] });
    const [first, second] = ["a", "b"].map((zone) =>
      watched(cache, asked("n", { env: "prod", zone })),
    );
    expect(first?.members()).toBe(second?.members());
    cache.commit({ put: [put("n", "3", limitedTo(prod))] });
    expect(first?.changes(1)).toBe(second?.changes(1));
  });

  it("may come in the place of one without constraints, and go for one", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "0")] });
    const topic = watched(cache, asked("n", { env: "prod" }));
    cache.commit({
      remove: [{ typeUrl: T, name: "n" }],
      put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(not(prod)))],
    });
    expect(show(topic.changes(1))).toEqual(["n-", "n{env=prod}=1"]);
    cache.commit({
      remove: [
        { typeUrl: T, name: "n", ...limitedTo(prod) },
        { typeUrl: T, name: "n", ...limitedTo(not(prod)) },
      ],
      put: [put("n", "3")],
    });
    expect(show(topic.changes(2))).toEqual(["n{env=prod}-", "n=3"]);
    expect(show(topic.members())).toEqual(["n=3"]);
    cache.remove(T, "n");
    expect(show(topic.changes(3))).toEqual(["n-"]);
  });

  it("is in a glob as elsewhere", () => {
    const cache = createCache();
    cache.commit({ put: [put(MEMBER, "1", limitedTo(prod)), put(MEMBER, "2", limitedTo(test))] });
    const topic = watched(cache, asked(GLOB, { env: "prod" }));
    const none = watched(cache, { name: GLOB });
    expect([show(topic.members()), show(none.members())]).toEqual([
      [`${MEMBER}{env=prod}=1`],
      [`${GLOB}-`],
    ]);
    expect([topic.get(MEMBER)?.resource?.version, none.get(MEMBER)]).toEqual([
      topic.members()[0]?.resource?.version,
      undefined,
    ]);
    cache.remove(T, MEMBER, limitedTo(prod));
    expect([show(topic.changes(1)), show(topic.members())]).toEqual([
      [`${MEMBER}{env=prod}-`, `${GLOB}-`],
      [`${GLOB}-`],
    ]);
  });

  it("is completed as a whole, or as far as the parameters reach", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))] });
    cache.commit({ complete: [{ typeUrl: T, interest: asked("n", { env: "test" }) }] });
    expect([...cache.held(T)].map(({ constraints }) => constraints)).toEqual([
      cache.topic(T, asked("n", { env: "prod" })).members()[0]?.resource?.constraints,
    ]);
    cache.commit({ complete: [{ typeUrl: T, interest: { name: "n" } }] });
    expect([...cache.held(T)]).toEqual([]);
  });

  it("expires one by one, and its removals are forgotten after the window", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 1_000 });
    cache.commit({
      put: [put("n", "1", { ...limitedTo(prod), expireMs: 500 }), put("n", "2", limitedTo(test))],
    });
    const topic = watched(cache, asked("n", { env: "prod" }));
    clock.advance(500);
    expect(show(topic.changes(1))).toEqual(["n{env=prod}-"]);
    clock.advance(1_001);
    cache.commit({});
    expect([topic.gone?.("n"), cache.counters.tombstones]).toEqual([[], 0]);
    expect(show(cache.topic(T, asked("n", { env: "test" })).members())).toEqual(["n{env=test}=2"]);
  });

  it("takes constraints that say nothing for none", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", { constraints: new Uint8Array() })] });
    expect(show(cache.topic(T, { name: "n" }).members())).toEqual(["n=1"]);
    cache.remove(T, "n", { constraints: new Uint8Array() });
    expect(show(cache.topic(T, { name: "n" }).members())).toEqual(["n-"]);
  });

  it("is not found under a name that looks like its key", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod))] });
    expect(show(cache.topic(T, { name: "n\nenv=prod" }).members())).toEqual(["n\nenv=prod-"]);
    const first = watched(cache, asked("n", { env: "prod" }));
    expect(cache.topic(T, { name: 'n\n[["env","prod"]]' })).not.toBe(first);
  });

  it("serves a version that another of them has as one of its own [B-VER-5]", () => {
    const cache = createCache();
    cache.commit({
      put: [
        put("n", "1", { ...limitedTo(prod), version: "v" }),
        put("n", "2", { ...limitedTo(test), version: "v" }),
      ],
    });
    expect(
      ["prod", "test"].map(
        (env) => cache.topic(T, asked("n", { env })).members()[0]?.resource?.version,
      ),
    ).toEqual(["v", expect.stringMatching(/^v~/)]);
    expect(cache.counters.reusedVersions).toBe(1);
  });
});

describe("a transaction", () => {
  it.each([
    [
      "overlap",
      either(prod, test),
      either(is("env", "qa"), test),
      'the variants or(env=prod, env=test) and or(env=qa, env=test) both match {"env":"test"}',
    ],
    [
      "differing keys",
      prod,
      is("version", "v1"),
      'the variants env=prod and version=v1 constrain different keys; let both mention "env", "version"',
    ],
    [
      "a key more",
      prod,
      both(prod, is("version", "v1")),
      'constrain different keys; let both mention "version"',
    ],
    [
      "a default that is none",
      prod,
      has("env"),
      'the variants env=prod and env exists both match {"env":"prod"}',
    ],
  ])("is rejected for %s, and what was held stays [S-DYN-4]", (_, first, second, message) => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(first)), put("other", "1")] });
    const before = cache.topic(T, { name: "other" }).members();
    const { rejected = [] } = cache.commit({
      put: [put("n", "2", limitedTo(second)), put("other", "2")],
      remove: [{ typeUrl: T, name: "n", constraints: Uint8Array.of(255) }],
    });
    expect(rejected.map(({ name, error }) => [name, error.text])).toEqual([
      ["n", expect.stringContaining(message)],
    ]);
    expect(rejected[0]?.error.text).toMatch(/^"n" of type\.googleapis\.com\/t\.T: /);
    expect([...cache.held(T)].length).toBe(2);
    expect(cache.topic(T, { name: "other" }).members()).not.toEqual(before);
  });

  it("keeps all that was held of a name of which it is rejected in part [S-DYN-4]", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))] });
    const bad = [
      put("n", "3", limitedTo(either(prod, test))),
      put("n", "4", limitedTo(both(prod, has("env")))),
    ];
    for (const transaction of [
      {
        put: bad,
        remove: [
          { typeUrl: T, name: "n", ...limitedTo(prod) },
          { typeUrl: T, name: "n", ...limitedTo(test) },
        ],
      },
      { put: bad, complete: [{ typeUrl: T, interest: { name: "*" } }] },
      { put: bad, atomic: true, complete: [{ typeUrl: T, interest: { name: "*" } }] },
    ]) {
      expect(cache.commit(transaction).rejected?.map(({ name }) => name)).toEqual(["n", "n"]);
      expect(
        ["prod", "test"].flatMap((env) => show(cache.topic(T, asked("n", { env })).members())),
      ).toEqual(["n{env=prod}=1", "n{env=test}=2"]);
    }
    expect(() => cache.put({ typeUrl: T, name: "n", value: new Uint8Array() })).toThrow(
      "the variants env=prod and without constraints constrain different keys",
    );
  });

  it("may replace the whole set by one with other keys, by removals or by what is complete [S-DYN-4, S-DYN-5]", () => {
    const cache = createCache();
    cache.commit({ put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(not(prod)))] });
    const next = [
      put("n", "3", limitedTo(has("version"))),
      put("n", "4", limitedTo(not(has("version")))),
    ];
    expect(
      cache.commit({ put: next, complete: [{ typeUrl: T, interest: { name: "*" } }] }).rejected,
    ).toBeUndefined();
    expect(show(cache.topic(T, { name: "n" }).members())).toEqual(["n{not(version exists)}=4"]);
    const after = [put("n", "5")];
    expect(
      cache.commit({
        put: after,
        remove: next.map(({ resource: { constraints } }) => ({
          typeUrl: T,
          name: "n",
          ...(constraints && { constraints }),
        })),
      }).rejected,
    ).toBeUndefined();
    expect(show(cache.topic(T, { name: "n" }).members())).toEqual(["n=5"]);
  });

  it("rejects constraints that cannot be read, with the reason [B-DYN-3]", () => {
    expect(() =>
      createCache().put({
        typeUrl: T,
        name: "n",
        value: new Uint8Array(),
        constraints: Uint8Array.of(10, 0),
      }),
    ).toThrow(
      `"n" of ${T}: its dynamic parameter constraints cannot be read: the one on "" says neither a value nor that the key exists`,
    );
  });

  it("holds a variant once", () => {
    expect(() =>
      createCache().commit({
        put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(prod))],
      }),
    ).toThrow("occurs twice");
  });
});

describe("a transaction of many names with variants", () => {
  it("is looked at once for all of them [S-DYN-4, S-LIM-6]", () => {
    const [few, many] = [10, 500].map((count) => {
      const cache = createCache();
      const names = Array.from({ length: count }, (_, n) => `xdstp://a/t.T/ns/${n}`);
      const puts = (env: Constraints): Put[] => names.map((name) => put(name, "1", limitedTo(env)));
      cache.commit({ put: [...puts(prod), ...puts(test)] });
      let reads = 0;
      const counting = <Part extends object>(part: Part): Part & { readonly typeUrl: string } => ({
        ...part,
        get typeUrl() {
          reads++;
          return T;
        },
      });
      cache.commit({
        put: puts(is("env", "qa")),
        remove: names.map((name) => counting({ name, ...limitedTo(prod) })),
        complete: [counting({ interest: { name: GLOB } })],
      });
      expect([
        [...cache.held(T)].length,
        show(watched(cache, asked(names[0] ?? "", { env: "qa" })).members()),
      ]).toEqual([count, ["xdstp://a/t.T/ns/0{env=qa}=1"]]);
      return reads / count;
    });
    expect(Math.max(few ?? 0, many ?? 0)).toBeLessThan(10);
  });
});

describe("variants of an upstream that do not exclude each other", () => {
  function forced(): {
    readonly cache: Cache;
    readonly events: CacheEvent[];
    readonly feed: ReturnType<typeof createDemandFeed>;
  } {
    const events: CacheEvent[] = [];
    const cache = createCache({
      onEvent: (event) => {
        events.push(event);
      },
    });
    const feed = createDemandFeed();
    cache.addFeed(feed);
    return { cache, events, feed };
  }

  it("are given to nobody who matches several, with an error, an event and a count [S-DYN-8]", () => {
    const { cache, events, feed } = forced();
    const everyone = watched(cache, asked("*", { env: "test" }));
    const topics = ["prod", "test", "qa"].map((env) => watched(cache, asked("n", { env })));
    void feed.sink.commit({ put: [put("n", "1", limitedTo(either(prod, test)))] });
    expect(show(topics[1]?.members())).toEqual(["n{or(env=prod, env=test)}=1"]);
    expect(
      feed.sink.commit({ put: [put("n", "2", limitedTo(either(test, is("env", "qa"))))] }),
    ).toEqual({ revision: 2 });
    expect(topics.map((topic) => show(topic.members()))).toEqual([
      ["n{or(env=prod, env=test)}=1"],
      ["!n-"],
      ["n{or(env=test, env=qa)}=2"],
    ]);
    expect(topics[1]?.members()[0]?.error).toMatchObject({
      code: "FAILED_PRECONDITION",
      text: expect.stringMatching(
        /several variants match.*or\(env=prod, env=test\); or\(env=test, env=qa\)/,
      ) as string,
    });
    expect([show(everyone.members()), show(everyone.changes(1))]).toEqual([[], ["!n-"]]);
    expect(events.at(-1)).toEqual({
      kind: "variants-overlap",
      typeUrl: T,
      name: "n",
      variants: ["or(env=prod, env=test)", "or(env=test, env=qa)"],
    });
    expect(cache.counters.overlappingVariants).toBe(1);
  });

  it("are given again once one of them has gone [S-DYN-8]", () => {
    const { cache, feed } = forced();
    const topics = [
      watched(cache, asked("n", { env: "test" })),
      watched(cache, asked("*", { env: "test" })),
    ];
    void feed.sink.commit({
      put: [
        put("n", "1", limitedTo(either(prod, test))),
        put("n", "2", limitedTo(either(test, is("env", "qa")))),
      ],
    });
    expect(topics.map((topic) => show(topic.members()))).toEqual([["!n-"], []]);
    void feed.sink.commit({
      remove: [{ typeUrl: T, name: "n", ...limitedTo(either(prod, test)) }],
    });
    for (const topic of topics)
      expect(show(topic.changes(1))).toEqual([
        "n{or(env=prod, env=test)}-",
        "n{or(env=test, env=qa)}=2",
      ]);
    for (const topic of topics)
      expect(show(topic.members())).toEqual(["n{or(env=test, env=qa)}=2"]);
  });

  it("are forgotten when nobody asks any more, each of them (B-RELAY-10)", async () => {
    const { cache, feed } = forced();
    const topic = cache.topic(T, asked("n", { env: "prod" }));
    const watcher = createWatcher();
    topic.watch(watcher);
    await Promise.resolve();
    void feed.sink.commit({
      put: [put("n", "1", limitedTo(prod)), put("n", "2", limitedTo(test))],
    });
    topic.unwatch(watcher);
    await Promise.resolve();
    expect([...cache.held(T)]).toEqual([]);
  });
});
