import type { Cache } from "@xdstp/cache";
import {
  forwardSource,
  type Interest,
  type ResourceSource,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { expect, it } from "vitest";
import { useMachine, type UsedMachine } from "../../test/machine.ts";

/** A topic of which nothing is known before a call of `say`. */
function later(
  topic: Topic,
): Topic & { readonly say: () => void; readonly isWatched: () => boolean } {
  const watchers = new Set<Watcher>();
  let said = false;
  const own = {
    interest: topic.interest,
    get settled() {
      return said;
    },
    get head() {
      return said ? topic.head : 0;
    },
    get hash() {
      return topic.hash;
    },
    changes: (after: number) => (said ? topic.changes(after) : []),
    members: () => (said ? topic.members() : []),
    get: (name: string) => (said ? topic.get(name) : undefined),
    removed: () => (said ? topic.removed() : []),
    watch(watcher: Watcher) {
      watchers.add(watcher);
    },
    unwatch(watcher: Watcher) {
      watchers.delete(watcher);
    },
    isWatched: () => watchers.size > 0,
    say() {
      said = true;
      for (const watcher of watchers) watcher.wake(own);
    },
  };
  return own;
}

/**
 * A client that has everything that an interest covers, over a source that returns another topic
 * each time it is asked.
 */
function holding(
  interest: Interest,
  names: readonly string[],
  noStore: boolean,
  aliases: readonly string[] = [],
): UsedMachine & {
  readonly names: () => readonly string[];
  readonly watched: () => number;
  readonly again: () => void;
  readonly say: () => void;
} {
  const topics: ReturnType<typeof later>[] = [];
  const source = (cache: Cache): ResourceSource =>
    forwardSource(cache, {
      ready: true,
      topic(...asked) {
        topics.push(later(cache.topic(...asked)));
        return topics.at(-1) ?? cache.topic(...asked);
      },
    });
  const used = useMachine({ over: source });
  const again = (): void => {
    used.request(
      interest.parameters === undefined ? { subscribe: [interest.name] } : { locate: [interest] },
    );
  };
  const say = (): void => {
    topics.at(-1)?.say();
  };
  for (const name of names) used.put(name, { text: "1", noStore, aliases });
  again();
  say();
  used.settle();
  return {
    ...used,
    again,
    say,
    names: () => topics.map((topic) => topic.interest.name),
    watched: () => topics.filter((topic) => topic.isWatched()).length,
  };
}

const told = (used: UsedMachine): readonly string[] =>
  used
    .settle()
    .flatMap(({ resources, removedResources }) => [
      ...resources.map(({ name, resourceName }) => resourceName?.name ?? name),
      ...removedResources.map((name) => `-${name}`),
    ])
    .toSorted();

const glob = "xdstp://a/test.Type/*";
const members = ["1", "2"].map((id) => `xdstp://a/test.Type/${id}`);
const ways: readonly (readonly [string, Interest, readonly string[]])[] = [
  ["a name", { name: "a" }, ["a"]],
  ["a name with parameters", { name: "a", parameters: new Map([["env", "prod"]]) }, ["a"]],
  ["a glob", { name: glob }, members],
  ["everything", { name: "*" }, ["a"]],
];

it.each(ways)(
  "%s, of which something may not be kept, is asked of the source anew when it is asked for again, and answered when that has answered [B-RELAY-11] [S-DSUB-3]",
  (_, interest, names) => {
    const used = holding(interest, names, true);
    for (const round of [2, 3]) {
      used.again();
      expect([told(used), used.names(), used.watched()]).toEqual([
        [],
        Array(round).fill(interest.name),
        1,
      ]);
      expect(names.map((name) => used.machine.misses(name))).toEqual(names.map(() => true));
      used.again();
      used.say();
      expect([told(used), used.names().length]).toEqual([names, round]);
    }
  },
);

it.each(ways)(
  "%s, of which something may not be kept, and which goes while the source is asked anew, is removed [B-RELAY-11] [S-MISS-1]",
  (_, interest, names) => {
    const used = holding(interest, names, true);
    used.again();
    for (const name of names) used.remove(name);
    expect(told(used)).toEqual([]);
    used.say();
    expect(told(used)).toEqual(expect.arrayContaining(names.map((name) => `-${name}`)));
  },
);

it.each(ways)(
  "%s, all of which may be kept, is answered at once from the topic that is there [S-DSUB-3]",
  (_, interest, names) => {
    const used = holding(interest, names, false);
    used.again();
    expect([told(used), used.names().length]).toEqual([names, 1]);
  },
);

it("is known by its own name no longer once the alias that was asked for again is left [B-RELAY-11] [S-ALIAS-2]", () => {
  const used = holding({ name: "alias" }, ["a"], true, ["alias"]);
  used.again();
  used.request({ unsubscribe: ["alias"] });
  expect([used.machine.misses("a"), used.watched()]).toEqual([true, 0]);
});
