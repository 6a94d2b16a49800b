import type { Clock, Entry, ResourceSource, Topic, Watcher } from "@xdstp/core";

import { around } from "./around.ts";
import type { Defect } from "./defect.ts";

/** Milliseconds after which a removal is forgotten. */
const KEPT = 1_000;

/** A cache that forgets removals after a second, and says that its history is whole. */
export const dropTombstonesEarly: Defect = {
  source(cache, clock) {
    const topics = new WeakMap<Topic, Topic>();
    return around(cache, {
      topic: (typeUrl: string, interest: Topic["interest"]) => {
        const topic = cache.topic(typeUrl, interest);
        const known = topics.get(topic) ?? forgetful(topic, clock);
        topics.set(topic, known);
        return known;
      },
    } satisfies Partial<ResourceSource>);
  },
};

function forgetful(topic: Topic, clock: Clock): Topic {
  const seen = new WeakMap<Entry, number>();
  const watchers = new WeakMap<Watcher, Watcher>();
  const note = (): void => {
    for (const entry of topic.removed()) if (!seen.has(entry)) seen.set(entry, clock.now());
  };
  const isKept = (entry: Entry): boolean =>
    entry.resource !== undefined || (seen.get(entry) ?? clock.now()) + KEPT > clock.now();
  const watcherOf = (watcher: Watcher): Watcher => {
    const known = watchers.get(watcher) ?? {
      wake: () => {
        note();
        watcher.wake(other);
      },
    };
    watchers.set(watcher, known);
    return known;
  };
  const other: Topic = around(topic, {
    changes: (after: number) => topic.changes(after)?.filter(isKept),
    removed: () => topic.removed().filter(isKept),
    watch: (watcher: Watcher) => {
      topic.watch(watcherOf(watcher));
    },
    unwatch: (watcher: Watcher) => {
      topic.unwatch(watcherOf(watcher));
    },
  });
  return other;
}
