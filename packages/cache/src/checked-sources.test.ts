import { type Entry, forwardSource, type ResourceSource, type Topic } from "@xdstp/core";
import { checkSource, type MakeSource, type TestedSource } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createCache, createNodeCaches } from "./index.ts";

/** Creates a cache whose source is `view` of it. */
function makeCache(
  view: (source: ResourceSource) => ResourceSource = (source) => source,
): TestedSource {
  const cache = createCache();
  return {
    source: view(cache),
    commit: (transaction) => cache.commit(transaction),
    unavailable: (typeUrl, error) => {
      cache.unavailable({ typeUrl }, error);
    },
    close: () => cache.close(),
  };
}

describe("The cache as a source:", () => {
  it.each(checkSource(() => makeCache()))("$title", async ({ check }) => {
    expect(await check()).toEqual({ kind: "passed" });
  });
});

describe("The cache of a node that has content of its own, as a source:", () => {
  it.each(
    checkSource(() => {
      const caches = createNodeCaches({ keyOf: ({ id }) => id });
      const source = caches.of("n1");
      source.put({ typeUrl: "type.googleapis.com/test.Own", name: "own", value: Buffer.of(1) });
      return {
        source,
        commit: (transaction) => caches.shared.commit(transaction),
        unavailable: (typeUrl, error) => {
          caches.shared.unavailable({ typeUrl }, error);
        },
        close: () => caches.close(),
      };
    }),
  )("$title", async ({ check }) => {
    expect(await check()).toEqual({ kind: "passed" });
  });
});

/** Creates caches whose topics have a defect. */
function withTopics(defect: (topic: Topic) => PropertyDescriptorMap): MakeSource {
  return () =>
    makeCache((cache) => {
      const known = new Map<Topic, Topic>();
      return forwardSource(cache, {
        topic: (typeUrl, interest) => {
          const topic = cache.topic(typeUrl, interest);
          const made =
            known.get(topic) ?? (Object.create(topic, forwarded(topic, defect(topic))) as Topic);
          known.set(topic, made);
          return made;
        },
      });
    });
}

/** The members of a topic, which has private state, with the defect in place of some. */
function forwarded(topic: Topic, defect: PropertyDescriptorMap): PropertyDescriptorMap {
  return {
    interest: { get: () => topic.interest },
    settled: { get: () => topic.settled },
    stale: { get: () => topic.stale },
    head: { get: () => topic.head },
    hash: { get: () => topic.hash },
    changes: { value: (after: number) => topic.changes(after) },
    members: { value: () => topic.members() },
    get: { value: (name: string) => topic.get(name) },
    removed: { value: () => topic.removed() },
    watch: { value: topic.watch.bind(topic) },
    unwatch: { value: topic.unwatch.bind(topic) },
    ...defect,
  };
}

/** The defect of a source, and a part of the name of the case that finds it. */
const defects: readonly [what: string, found: string, make: MakeSource][] = [
  [
    "returns the newest change first",
    "changes() has each name once",
    withTopics((topic) => {
      const arrays = new Map<readonly Entry[] | undefined, readonly Entry[] | undefined>();
      return {
        changes: {
          value: (after: number) => {
            const found = topic.changes(after);
            if (!arrays.has(found)) arrays.set(found, found?.toReversed());
            return arrays.get(found);
          },
        },
      };
    }),
  ],
  [
    "moves each head with the source",
    "another type does not move a head",
    () => {
      const tested = makeCache();
      return {
        ...tested,
        source: forwardSource(tested.source, {
          topic: (typeUrl, interest) => {
            const topic = tested.source.topic(typeUrl, interest);
            return Object.create(
              topic,
              forwarded(topic, { head: { get: () => tested.source.revision } }),
            ) as Topic;
          },
        }),
      };
    },
  ],
  [
    "copies its arrays",
    "the same state gives the same arrays",
    withTopics((topic) => ({ members: { value: () => [...topic.members()] } })),
  ],
  [
    "returns an array of an older state",
    "the same state gives the same arrays",
    withTopics((topic) => {
      let first: readonly Entry[] | undefined;
      return {
        members: {
          value: () => (topic.head === 0 ? topic.members() : (first ??= topic.members())),
        },
      };
    }),
  ],
  [
    "has no tombstones",
    "a removed name is a tombstone",
    withTopics((topic) => ({
      changes: {
        value: (after: number) => topic.changes(after)?.filter(({ resource }) => resource),
      },
    })),
  ],
  [
    "still has what was removed",
    "a removed name is a tombstone",
    withTopics((topic) => ({
      get: {
        value: (name: string) =>
          topic.get(name) ?? topic.removed().find((entry) => entry.name === name),
      },
    })),
  ],
  [
    "does not note that a name was missing in between",
    "a name that comes back",
    withTopics((topic) => ({
      get: {
        value: (name: string) => {
          const entry = topic.get(name);
          return entry && { ...entry, revision: entry.revision, since: 1 };
        },
      },
    })),
  ],
  [
    "copies its entries, which then stay as they are",
    "an entry that a newer one replaces",
    withTopics((topic) => ({
      get: {
        value: (name: string) => {
          const entry = topic.get(name);
          return entry && { ...entry, superseded: false };
        },
      },
    })),
  ],
  [
    "adds up what was removed",
    "hash is the sum",
    withTopics((topic) => ({
      hash: {
        get: () => topic.hash + topic.removed().length,
      },
    })),
  ],
  [
    "says nothing of an empty glob",
    "an empty topic that is settled",
    withTopics((topic) => ({
      members: { value: () => topic.members().filter(({ resource }) => resource) },
    })),
  ],
  [
    "is not settled when it is empty",
    "an empty topic that is settled",
    withTopics((topic) => ({
      settled: {
        get: () => topic.members().some(({ resource }) => resource !== undefined),
      },
    })),
  ],
  [
    "loses the reason of a removal",
    "removed with an error",
    withTopics((topic) => ({
      members: {
        value: () => topic.members().map((entry) => ({ ...entry, error: undefined })),
      },
    })),
  ],
  [
    "keeps what a complete state lacks",
    "a complete state removes",
    () => {
      const tested = makeCache();
      return {
        ...tested,
        commit: (transaction) => tested.commit({ ...transaction, complete: [] }),
      };
    },
  ],
  [
    "applies a transaction in parts",
    "a transaction is visible as a whole",
    () => {
      const tested = makeCache();
      return {
        ...tested,
        commit: ({ put = [], ...transaction }) => {
          tested.commit(transaction);
          for (const one of put) tested.commit({ put: [one] });
        },
      };
    },
  ],
  [
    "wakes a watcher inside of watch()",
    "a watcher is woken by changes",
    withTopics((topic) => ({
      watch: {
        value: (watcher: Parameters<Topic["watch"]>[0]) => {
          topic.watch(watcher);
          watcher.wake(topic);
        },
      },
    })),
  ],
  [
    "counts how often a watcher watches",
    "a watcher is woken by changes",
    withTopics((topic) => {
      let watches = 0;
      return {
        watch: {
          value: (watcher: Parameters<Topic["watch"]>[0]) => {
            watches++;
            topic.watch(watcher);
          },
        },
        unwatch: {
          value: (watcher: Parameters<Topic["watch"]>[0]) => {
            if (watches > 0 && --watches === 0) topic.unwatch(watcher);
          },
        },
      };
    }),
  ],
  [
    "creates a topic for each reader",
    "equal interests give the same topic",
    () =>
      makeCache((cache) =>
        forwardSource(cache, {
          topic: (typeUrl, interest) => {
            const topic = cache.topic(typeUrl, interest);
            return Object.create(topic, forwarded(topic, {})) as Topic;
          },
        }),
      ),
  ],
  [
    "answers in the spelling of the resource",
    "a topic answers in the spelling",
    withTopics((topic) => ({
      members: {
        value: () =>
          topic.members().map((entry) => ({ ...entry, name: entry.resource?.name ?? entry.name })),
      },
    })),
  ],
  [
    "throws at an invalid name",
    "an invalid interest",
    () =>
      makeCache((cache) =>
        forwardSource(cache, {
          topic: (typeUrl, interest) => {
            if (interest.name.includes("%")) throw new Error("invalid name");
            return cache.topic(typeUrl, interest);
          },
        }),
      ),
  ],
  [
    "sends a late reader only what changes from then on",
    "a reader that comes late",
    () => {
      const tested = makeCache();
      return {
        ...tested,
        source: forwardSource(tested.source, {
          topic: (typeUrl, interest) => {
            const topic = tested.source.topic(typeUrl, interest);
            const from = tested.source.revision;
            return Object.create(
              topic,
              forwarded(topic, {
                members: { value: () => topic.members().filter(({ revision }) => revision > from) },
              }),
            ) as Topic;
          },
        }),
      };
    },
  ],
  [
    "stops at 1,000 members",
    "5,000 resources",
    withTopics((topic) => ({ members: { value: () => topic.members().slice(0, 1_000) } })),
  ],
  [
    "serves a type only while it has a resource",
    "a type is served",
    () =>
      makeCache((cache) =>
        forwardSource(cache, {
          serves: (typeUrl) =>
            cache
              .topic(typeUrl, { name: "*" })
              .members()
              .some(({ resource }) => resource !== undefined),
        }),
      ),
  ],
  [
    "hides that its supply fails",
    "a supply that fails",
    withTopics(() => ({ stale: { value: undefined } })),
  ],
];

describe("checkSource(), on a source that", () => {
  it.each(defects)("%s: the case fails", async (_what, found, make) => {
    const [each, ...others] = checkSource(make).filter(({ name }) => name.includes(found));
    expect(others).toEqual([]);
    expect(await each?.check()).toMatchObject({ kind: "failed" });
  });

  it("each case finds at least one defect", () => {
    const names = checkSource(() => makeCache()).map(({ name }) => name);
    expect(names.filter((name) => !defects.some(([, found]) => name.includes(found)))).toEqual([]);
  });
});
