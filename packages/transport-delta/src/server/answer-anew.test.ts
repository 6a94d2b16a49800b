import type { Cache } from "@xdstp/cache";
import type { Interest, ResourceSource, Topic, Watcher } from "@xdstp/core";
import { expect, it } from "vitest";
import { useMachine, type UsedMachine } from "../../test/machine.ts";

/** A topic of which nothing is known before `say`. */
function later(topic: Topic): Topic & { readonly say: () => void } {
  const watchers = new Set<Watcher>();
  let said = false;
  const own = {
    interest: topic.interest,
    get settled() { return said; }, get head() { return said ? topic.head : 0; }, get hash() { return topic.hash; },
    changes: (after: number) => (said ? topic.changes(after) : []),
    members: () => (said ? topic.members() : []),
    get: (name: string) => (said ? topic.get(name) : undefined),
    removed: () => (said ? topic.removed() : []),
    watch(watcher: Watcher) { watchers.add(watcher); },
    unwatch(watcher: Watcher) { watchers.delete(watcher); },
    say() {
      said = true;
      for (const watcher of watchers) watcher.wake(own);
    },
  };
  return own;
}

/** A client that holds what an interest covers, over a source that gives another topic whenever it is asked for one. */
function holding(interest: Interest, names: readonly string[], noStore: boolean): UsedMachine & { readonly names: () => readonly string[]; readonly again: () => void; readonly say: () => void } {
  const topics: ReturnType<typeof later>[] = [];
  const source = (cache: Cache): ResourceSource => ({
    get revision() { return cache.revision; }, ready: true,
    descriptor: (typeUrl) => cache.descriptor(typeUrl),
    serves: (typeUrl) => cache.serves(typeUrl),
    topic(...asked) {
      topics.push(later(cache.topic(...asked)));
      return topics.at(-1) ?? cache.topic(...asked);
    },
  });
  const used = useMachine({ over: source });
  const again = (): void => { used.request(interest.parameters === undefined ? { subscribe: [interest.name] } : { locate: [interest] }); };
  const say = (): void => { topics.at(-1)?.say(); };
  for (const name of names) used.put(name, { text: "1", noStore });
  again();
  say();
  used.settle();
  return { ...used, again, say, names: () => topics.map((topic) => topic.interest.name) };
}

const told = (used: UsedMachine): readonly string[] => used.settle().flatMap(({ resources, removedResources }) => [...resources.map(({ name, resourceName }) => resourceName?.name ?? name), ...removedResources.map((name) => `-${name}`)]).toSorted();

const glob = "xdstp://a/test.Type/*";
const member = "xdstp://a/test.Type/1";
const ways = [["a name", { name: "a" }, "a"], ["a name with parameters", { name: "a", parameters: new Map([["env", "prod"]]) }, "a"], ["a glob", { name: glob }, member], ["everything", { name: "*" }, "a"]] as const;

it.each(ways)("%s, of which something may not be kept, is asked of the source anew when it is asked for again, and answered when that has answered [B-RELAY-11] [S-DSUB-3]", (_, interest, name) => {
  const used = holding(interest, [name], true);
  for (const round of [2, 3]) {
    used.again();
    expect([told(used), used.names()]).toEqual([[], Array(round).fill(interest.name)]);
    used.again();
    used.say();
    expect([told(used), used.names().length]).toEqual([[name], round]);
  }
});

it.each(ways)("%s, of which something may not be kept, and which goes while the source is asked anew, is removed [B-RELAY-11] [S-MISS-1]", (_, interest, name) => {
  const used = holding(interest, [name], true);
  used.again();
  used.remove(name);
  expect(told(used)).toEqual([]);
  used.say();
  expect(told(used)).toContain(`-${name}`);
});

it.each(ways)("%s, all of which may be kept, is answered at once from the topic that is there [S-DSUB-3]", (_, interest, name) => {
  const used = holding(interest, [name], false);
  used.again();
  expect([told(used), used.names().length]).toEqual([[name], 1]);
});
