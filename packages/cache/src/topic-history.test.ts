import { createFakeClock } from "@xdstp/testing";
import { expect, it } from "vitest";

import { createWatcher, put, shown, T } from "../test/scene.ts";
import { AliasHistory } from "./topic-history.ts";
import { CacheCore } from "./cache-core.ts";
import { createCache } from "./index.ts";
import { StateEntry } from "./state-entry.ts";

it("looks at as many names for each move of an alias, however many it has led to [S-ALIAS-1, S-LIM-6]", () => {
  const entries = new Map<string, StateEntry>();
  const state = { revision: 0, label: undefined };
  let looks = 0;
  const history = new AliasHistory(undefined, {
    key: "alias",
    state,
    miss: () => undefined,
    leave: () => undefined,
    entryOf: (key) => {
      looks++;
      return entries.get(key);
    },
  });
  const count = 2_000;
  for (let n = 0; n < count; n++) {
    state.revision++;
    if (n > 0)
      entries.set(
        `${n - 1}`,
        new StateEntry({ revision: state.revision, name: `${n - 1}`, tombstone: true }),
      );
    history.follow(`${n}`, `${n - 1}`);
  }
  const newest = new StateEntry({ revision: state.revision, name: `${count - 1}` });
  expect(looks / count).toBeLessThan(4);
  expect(history.after(state.revision - 2, newest).map(({ name }) => name)).toEqual([
    `${count - 3}`,
    `${count - 2}`,
    `${count - 1}`,
  ]);
  expect(history.removedAfter(0, newest)).toHaveLength(count - 1);
});

it("forgets what an alias led to when the removal has left the window, but not that of its own name [S-ALIAS-1, S-LIM-6]", () => {
  const clock = createFakeClock();
  const cache = createCache({ clock, tombstoneMs: 1_000 });
  cache.commit({ put: [put("alias", "own")] });
  const topic = cache.topic(T, { name: "alias" });
  topic.watch(createWatcher());
  cache.commit({
    put: [put("0", "1", { aliases: ["alias"] })],
    remove: [{ typeUrl: T, name: "alias" }],
  });
  for (let n = 1; n < 100; n++) {
    cache.commit({
      put: [put(`${n}`, "1", { aliases: ["alias"] })],
      remove: [{ typeUrl: T, name: `${n - 1}` }],
    });
    clock.advance(100);
  }
  expect(shown(topic.removed())?.[0]).toBe("alias-");
  expect(topic.removed().length).toBeLessThan(15);
  expect([topic.changes(1), shown(topic.changes(topic.head - 1))]).toEqual([
    undefined,
    ["98-", "99=1"],
  ]);
  cache.commit({ put: [put("5", "again")] });
  expect(shown(topic.members())).toEqual(["99=1"]);
  cache.commit({ put: [put("98", "again")] });
  expect(shown(topic.removed())).not.toContain("98-");
});

it("of a topic that nobody watches costs nothing when one of its names changes", () => {
  const cache = new CacheCore({});
  cache.commit({ put: [put("alias", "own")] });
  const topics = Array.from({ length: 100 }, () => cache.topic(T, { name: "alias" }));
  for (const topic of topics) topic.members();
  cache.commit({
    remove: [{ typeUrl: T, name: "alias" }],
    put: [put("real", "1", { aliases: ["alias"] })],
  });
  for (const topic of topics) topic.members();
  const [watched] = topics;
  const watcher = createWatcher();
  watched?.watch(watcher);
  const before = cache.state.work;
  cache.commit({ put: [put("alias", "again")] });
  expect(cache.state.work - before).toBeLessThan(8);
  expect([watcher.wakes, shown(watched?.members())]).toEqual([1, ["alias=again"]]);
});
