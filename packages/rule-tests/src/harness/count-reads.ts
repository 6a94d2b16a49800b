import {
  forwardSource,
  type Entry,
  type ResourceSource,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { createWorld, type World, type WorldOptions } from "./create-world.ts";

/** A world whose server is counted: calls to topics, wakes, and entries that it was given. */
export interface CountedWorld {
  readonly world: World;
  readonly reads: number;
  /** Counts from here. */
  reset(): void;
}

/** Makes a world and counts what its server reads of the cache. */
export function countReads(options: Omit<WorldOptions, "source">): CountedWorld {
  let reads = 0;
  const count = (steps: number): void => {
    reads += steps;
  };
  const world = createWorld({ ...options, source: (cache) => counted(cache, count) });
  return {
    world,
    get reads() {
      return reads;
    },
    reset() {
      reads = 0;
    },
  };
}

function counted(source: ResourceSource, count: (steps: number) => void): ResourceSource {
  const topics = new WeakMap<Topic, Topic>();
  return forwardSource(source, {
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      const known = topics.get(topic) ?? countedTopic(topic, count);
      topics.set(topic, known);
      return known;
    },
  });
}

function countedTopic(topic: Topic, count: (steps: number) => void): Topic {
  const watchers = new Map<Watcher, Watcher>();
  const given = <T extends readonly Entry[] | undefined>(entries: T): T => {
    count(1 + (entries?.length ?? 0));
    return entries;
  };
  const self: Topic = {
    interest: topic.interest,
    get settled() {
      return topic.settled;
    },
    get head() {
      return topic.head;
    },
    get hash() {
      return topic.hash;
    },
    changes: (after) => given(topic.changes(after)),
    members: () => given(topic.members()),
    get(name) {
      count(1);
      return topic.get(name);
    },
    removed: () => given(topic.removed()),
    watch(watcher) {
      const inner = {
        wake: (): void => {
          count(1);
          watcher.wake(self);
        },
      };
      watchers.set(watcher, inner);
      topic.watch(inner);
    },
    unwatch(watcher) {
      const inner = watchers.get(watcher);
      if (inner !== undefined) topic.unwatch(inner);
      watchers.delete(watcher);
    },
  };
  return self;
}
