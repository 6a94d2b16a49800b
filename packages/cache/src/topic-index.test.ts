import { XdsError } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { createWatcher, put, shown, T } from "../test/scene.ts";
import { createCache } from "./index.ts";

const name = "xdstp://a/t.T/ns/x";
const spelled = "xdstp://a/t.T/ns/%78";

describe("the index of topics", () => {
  it("finds a topic that is older than the record of its name, or outlives it [S-SUB-2, S-REM-1]", () => {
    const clock = createFakeClock();
    const cache = createCache({ clock, tombstoneMs: 10 });
    cache.commit({});
    const topics = [name, spelled].map((text) => cache.topic(T, { name: text }));
    const watchers = topics.map((topic) => {
      const watcher = createWatcher();
      topic.watch(watcher);
      return watcher;
    });
    const seen = [];
    for (const step of [
      { put: [put(name, "1")] },
      { remove: [{ typeUrl: T, name }] },
      {},
      { put: [put(name, "2")] },
    ]) {
      clock.advance(11);
      cache.commit(step);
      const found = [name, spelled].every(
        (text, index) => cache.topic(T, { name: text }) === topics[index],
      );
      seen.push([
        topics.flatMap((topic) => shown(topic.members()) ?? []),
        watchers.map(({ wakes }) => wakes),
        found,
        cache.counters.topics,
        cache.counters.tombstones,
      ]);
    }
    expect(seen).toEqual([
      [[`${name}=1`, `${spelled}=1`], [1, 1], true, 2, 0],
      [[`${name}-`, `${spelled}-`], [2, 2], true, 2, 1],
      [[`${name}-`, `${spelled}-`], [2, 2], true, 2, 0],
      [[`${name}=2`, `${spelled}=2`], [3, 3], true, 2, 0],
    ]);
    for (const [index, watcher] of watchers.entries()) topics[index]?.unwatch(watcher);
    expect(cache.counters.topics).toBe(0);
  });

  it("tells every topic of an outage once, whether its name is known or not", () => {
    const cache = createCache();
    cache.commit({ put: [put("known")] });
    const watcher = createWatcher();
    const topics = ["known", "unknown", "*"].map((text) => cache.topic(T, { name: text }));
    for (const topic of topics) topic.watch(watcher);
    const error = new XdsError("UNAVAILABLE", "gone");
    cache.unavailable({}, error);
    expect([watcher.wakes, ...topics.map(({ stale }) => stale)]).toEqual([3, error, error, error]);
  });

  it("lets the second of two objects for a known name succeed the first", () => {
    const cache = createCache();
    cache.commit({ put: [put(name)] });
    const [first, second] = [cache.topic(T, { name }), cache.topic(T, { name })];
    const watchers = [first, second].map((topic) => {
      const watcher = createWatcher();
      topic.watch(watcher);
      return watcher;
    });
    expect([cache.topic(T, { name }) === first, cache.counters.topics]).toEqual([true, 1]);
    first.unwatch(watchers[0] ?? createWatcher());
    expect([cache.topic(T, { name }) === second, cache.counters.topics]).toEqual([true, 1]);
    cache.commit({ put: [put(name, "2")] });
    expect([shown(second.members()), ...watchers.map(({ wakes }) => wakes)]).toEqual([
      [`${name}=2`],
      0,
      1,
    ]);
    second.unwatch(watchers[1] ?? createWatcher());
    expect(cache.counters.topics).toBe(0);
  });
});
