import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createWatcher, put, T } from "../test/scene.ts";
import { CacheCore } from "./cache-core.ts";

const ns = (id: number | string): string => `xdstp://a/t.T/ns/${id}`;
const changes = 512;

interface Load {
  readonly members: number;
  readonly globs: number;
  readonly watchers: number;
}

/**
 * Returns the steps of work per change for a cache of this size: notes, wakes, log entries that are
 * visited, compaction.
 */
function stepsPerChange({ members, globs, watchers }: Load): number {
  const cache = new CacheCore({});
  cache.commit({ put: Array.from({ length: members }, (_, id) => put(ns(id))) });
  for (let id = 0; id < globs; id++)
    cache.topic(T, { name: `xdstp://a/t.T/other${id}/*` }).watch(createWatcher());
  const [glob, star, exact] = [ns("*"), "*", ns(1)].map((name) => cache.topic(T, { name }));
  for (const topic of [star, exact]) topic?.watch(createWatcher());
  for (let i = 0; i < watchers; i++) glob?.watch(createWatcher());
  for (const topic of [glob, star]) topic?.changes(cache.revision);
  const before = cache.state.work;
  for (let i = 0; i < changes; i++) {
    cache.commit({ put: [put(ns(i % Math.min(members, 100)), `changed ${i}`)] });
    for (const topic of [glob, star, exact]) topic?.changes(cache.revision - 1);
  }
  return (cache.state.work - before) / changes;
}

describe("the work of a change", () => {
  it("is the same for 100 and for 100,000 members [B-GLOB-13, S-LIM-6]", () => {
    const [small, large] = [100, 100_000].map((members) =>
      stepsPerChange({ members, globs: 1, watchers: 1 }),
    );
    expect(large).toBeLessThanOrEqual((small ?? 0) * 1.1);
    expect(large).toBeGreaterThan(4);
    expect(large).toBeLessThan(16);
  });

  it("is the same beside 1 and beside 10,000 globs [B-GLOB-13, S-LIM-6]", () => {
    const [few, many] = [1, 10_000].map((globs) =>
      stepsPerChange({ members: 1000, globs, watchers: 1 }),
    );
    expect(many).toBe(few);
  });

  it("grows by one for each watcher of a topic that it touches", () => {
    const [one, many] = [1, 1001].map((watchers) =>
      stepsPerChange({ members: 1000, globs: 1, watchers }),
    );
    expect((many ?? 0) - (one ?? 0)).toBe(1000);
  });

  it("is the same beside 10 and beside 10,000 names when one of them has an error of its own [S-LIM-6]", () => {
    const [few, many] = [10, 10_000].map((names) => {
      const cache = new CacheCore({});
      const watcher = createWatcher();
      for (let id = 0; id < names; id++) {
        cache.topic(T, { name: ns(id) }).watch(watcher);
        cache.unavailable(
          { typeUrl: T, interest: { name: ns(id) } },
          new XdsError("UNAVAILABLE", "not now"),
        );
      }
      const before = cache.state.work;
      cache.unavailable({ typeUrl: T, interest: { name: ns(3) } }, undefined);
      expect([
        cache.topic(T, { name: ns(3) }).stale,
        cache.topic(T, { name: ns(4) }).stale?.code,
      ]).toEqual([undefined, "UNAVAILABLE"]);
      return cache.state.work - before;
    });
    expect([few, many]).toEqual([2, 2]);
  });

  it("is none for topics that are no longer watched", () => {
    const cache = new CacheCore({});
    const watcher = createWatcher();
    // Two topics of each interest, and some under another key.
    const interests = [
      ...["alias", "real", "*", "alias", "real", "*"].map((name) => ({ name })),
      { name: "real", parameters: new Map([["k", "v"]]) },
    ];
    const topics = interests.map((interest) => cache.topic(T, interest));
    for (const topic of topics) topic.watch(watcher);
    cache.commit({ put: [put("real", "1", { aliases: ["alias"] })] });
    cache.commit({ put: [put("real", "1")] });
    for (const topic of topics) topic.unwatch(watcher);
    const before = cache.state.work;
    cache.commit({ remove: [{ typeUrl: T, name: "real" }] });
    expect(cache.state.work - before).toBe(1);
  });

  it("is paid for at most twice when the log is compacted", () => {
    const cache = new CacheCore({});
    const topic = cache.topic(T, { name: ns("*") });
    topic.watch(createWatcher());
    const members = 1000;
    cache.commit({ put: Array.from({ length: members }, (_, id) => put(ns(id))) });
    const before = cache.state.work;
    const count = 20_000;
    for (let i = 0; i < count; i++) cache.commit({ put: [put(ns(i % members), String(i))] });
    expect((cache.state.work - before) / count).toBeLessThan(3 + 2);
    const read = cache.state.work;
    expect(topic.changes(0)).toHaveLength(members);
    expect(cache.state.work - read).toBeGreaterThan(0);
    expect(cache.state.work - read).toBeLessThanOrEqual(2 * (64 + 2 * members));
  });
});
