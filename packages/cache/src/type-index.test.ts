import { describe, expect, it, vi } from "vitest";

import { createWatcher, put, shown, T, U } from "../test/scene.ts";
import { CacheCore } from "./cache-core.ts";
import { createCacheState } from "./cache-state.ts";
import { createCache } from "./index.ts";
import { TypeIndex } from "./type-index.ts";
import { TypeStore } from "./type-store.ts";

describe("TypeIndex", () => {
  it("does not keep every type that anybody ever asked for, but those that are watched [S-LIM-4]", () => {
    const index = new TypeIndex({}, createCacheState(), {
      now: () => 0,
      wants: () => false,
      opened: () => undefined,
      closed: () => undefined,
      outage: () => undefined,
    });
    const watcher = createWatcher();
    index.topic(T, { name: "x" }).watch(watcher);
    for (let i = 0; i < 15_000; i++) {
      const topic = index.topic(`${T}${i}`, { name: "*" });
      topic.watch(watcher);
      topic.unwatch(watcher);
    }
    expect([...index].length).toBeLessThanOrEqual(256);
    expect([...index].map(({ typeUrl }) => typeUrl)).toContain(T);
  });

  it("does not look through all types for each new one, however many are watched [S-LIM-6]", () => {
    const index = new TypeIndex({}, createCacheState(), {
      now: () => 0,
      wants: () => false,
      opened: () => undefined,
      closed: () => undefined,
      outage: () => undefined,
    });
    const looks = vi.spyOn(TypeStore.prototype, "blank", "get");
    const types = 15_000;
    for (let i = 0; i < types; i++) index.topic(`${T}${i}`, { name: "*" }).watch(createWatcher());
    expect(looks.mock.calls.length).toBeLessThan(2 * types);
  });

  it("keeps types of which something was held", () => {
    const cache = new CacheCore({});
    cache.commit({ put: [put("x")] });
    cache.commit({ remove: [{ typeUrl: T, name: "x" }] });
    for (let i = 0; i < 1000; i++) cache.topic(`${T}${i}`, { name: "*" });
    expect(cache.serves(T)).toBe(true);
    expect(cache.topic(T, { name: "*" }).removed()).toHaveLength(1);
  });

  it("shows what comes later to who has a topic of a type that was cleared away before he watched it", () => {
    const cache = createCache();
    const [topic, unused] = [T, U].map((typeUrl) => cache.topic(typeUrl, { name: "x" }));
    const watchers = [createWatcher(), createWatcher()];
    for (let n = 0; n < 2_000; n++) cache.topic(`type.googleapis.com/t.T${n}`, { name: "x" });
    cache.commit({ put: [put("x")] });
    for (const [index, one] of [topic, unused].entries())
      one?.watch(watchers[index] ?? createWatcher());
    cache.commit({ put: [put("x", "2"), put("x", "3", { typeUrl: U })] });
    expect([
      shown(topic?.members()),
      shown(unused?.members()),
      watchers.map(({ wakes }) => wakes),
    ]).toEqual([["x=2"], ["x=3"], [1, 1]]);
  });
});
