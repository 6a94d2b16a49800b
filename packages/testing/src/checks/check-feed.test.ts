import { forwardSink, type ResourceFeed, type ResourceSink, XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { checkFeed, type MakeFeed } from "./check-feed.ts";
import type { TestedFeed } from "./tested-feed.ts";

const TYPE = "type.googleapis.com/xdstp.check.Thing";
const away = new XdsError("UNAVAILABLE", "the map is out of reach");

type Want = NonNullable<ResourceFeed["want"]>;

/** The difference between a feed of a map and a correct one. */
interface Defect {
  /** Changes the sink that the feed uses. */
  readonly sink?: (sink: ResourceSink) => Readonly<Partial<Omit<ResourceSink, "part">>>;
  /** Changes the feed. */
  readonly feed?: (feed: MapFeed) => Partial<ResourceFeed>;
}

interface MapFeed {
  readonly run: ResourceFeed["run"];
  readonly want: Want;
  /** True after `run` was called. */
  readonly hasRun: () => boolean;
}

/** Creates a feed of the names in a map. */
function makeMapFeed({ sink: ofSink, feed: ofFeed }: Defect = {}): TestedFeed {
  const states = new Map<string, number>();
  const names = new Set<string>();
  let sink: ResourceSink | undefined;
  let hasRun = false;
  let isCut = false;
  const give = (name: string): void => {
    if (sink === undefined || isCut || !(names.has(name) || names.has("*"))) return;
    const state = states.get(name);
    const value = Uint8Array.of(state ?? 0);
    const resource = { name, version: String(state), payload: { typeUrl: TYPE, value } };
    const one = { typeUrl: TYPE, name };
    sink.commit(state === undefined ? { remove: [one] } : { put: [{ typeUrl: TYPE, resource }] });
  };
  const giveAll = (name: string): void => {
    if (name !== "*") {
      give(name);
      return;
    }
    for (const each of states.keys()) give(each);
    sink?.commit({ settled: [{ typeUrl: TYPE, interest: { name } }] });
  };
  const base: MapFeed = {
    hasRun: () => hasRun,
    want: (_, added, dropped) => {
      for (const { name } of dropped) names.delete(name);
      for (const { name } of added) {
        names.add(name);
        giveAll(name);
      }
    },
    run: async (given, signal) => {
      hasRun = true;
      if (signal.aborted) return;
      sink = ofSink === undefined ? given : forwardSink(given, ofSink);
      for (const name of names) giveAll(name);
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      });
      sink = undefined;
    },
  };
  return {
    feed: { run: base.run, want: base.want, ...ofFeed?.(base) },
    typeUrl: TYPE,
    nameOf: (id) => id,
    glob: "*",
    stateOf: ({ payload }) => payload.value[0] ?? -1,
    put: (id, state) => {
      states.set(id, state);
      give(id);
    },
    remove: (id) => {
      states.delete(id);
      give(id);
    },
    cut: () => {
      isCut = true;
      sink?.unavailable({ typeUrl: TYPE }, away);
    },
    restore: () => {
      isCut = false;
      sink?.unavailable({ typeUrl: TYPE }, undefined);
      for (const name of names) give(name);
    },
  };
}

describe("checkFeed(), on a feed of a map:", () => {
  it.each(checkFeed(() => makeMapFeed()))("$title", async ({ check }) => {
    expect(await check()).toEqual({ kind: "passed" });
  });

  it("skips what a feed without subscriptions, removals and outages does not concern", async () => {
    const skipped: string[] = [];
    for (const { name, check } of checkFeed(makeWithoutAbilities)) {
      const result = await check();
      if (result.kind === "skipped") skipped.push(`${name}: ${result.reason}`);
    }
    const suppliesAll = "the feed has no subscriptions: it supplies everything that it has";
    const noOutage = "the test of this feed cannot make its place unreachable";
    expect(skipped).toEqual([
      `subscriptions from before run() count: ${suppliesAll}`,
      `an interest that covers several names is settled with all its members: ${suppliesAll}`,
      `an interest without members is settled too, and gets those that come later: ${suppliesAll}`,
      `an invalid name is reported as missing or unavailable, and does not stop the others: ${suppliesAll}`,
      "a removed resource is removed, and the others stay: the test of this feed cannot remove a resource",
      `an outage keeps all resources, and is reported until it ends: ${noOutage}`,
      `a change during an outage arrives after it: ${noOutage}`,
      `an unsubscribed name is not supplied any more: ${suppliesAll}`,
      "a rejected resource does not stop the others: the transactions of the feed are atomic: one rejection rejects the others",
      `an abort during an outage ends run(): ${noOutage}`,
    ]);
  });
});

/** Creates a feed that commits the whole map in each transaction. */
function makeWithoutAbilities(): TestedFeed {
  const states = new Map<string, number>();
  let commit = (): void => undefined;
  const feed: ResourceFeed = {
    run: async (sink, signal) => {
      if (signal.aborted) return;
      commit = () => {
        const put = [...states].map(([name, state]) => {
          const payload = { typeUrl: TYPE, value: Uint8Array.of(state) };
          return { typeUrl: TYPE, resource: { name, version: "", payload } };
        });
        sink.commit({ put, complete: [{ typeUrl: TYPE, interest: { name: "*" } }], atomic: true });
      };
      commit();
      await new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
      });
      commit = () => undefined;
    },
  };
  return {
    feed,
    typeUrl: TYPE,
    nameOf: (id) => id,
    stateOf: ({ payload }) => payload.value[0] ?? -1,
    put: (id, state) => {
      states.set(id, state);
      commit();
    },
  };
}

/** Changes the sink of a feed. */
const bySink =
  (sink: Defect["sink"] & {}): MakeFeed =>
  () =>
    makeMapFeed({ sink });

/** Changes a feed. */
const byFeed =
  (feed: Defect["feed"] & {}): MakeFeed =>
  () =>
    makeMapFeed({ feed });

/** A feed's defect, and a part of the name of the case that finds it. */
const defects: readonly [what: string, found: string, make: MakeFeed][] = [
  [
    "ignores subscriptions while it runs",
    "a subscribed name",
    byFeed((feed) => ({
      want: (...change) => {
        if (!feed.hasRun()) feed.want(...change);
      },
    })),
  ],
  ["ends by itself", "a subscribed name", byFeed(() => ({ run: () => Promise.resolve() }))],
  [
    "rejects at once",
    "a subscribed name",
    byFeed(() => ({ run: () => Promise.reject(new Error("no place")) })),
  ],
  [
    "ignores subscriptions from before run()",
    "subscriptions from before",
    byFeed((feed) => ({
      want: (...change) => {
        if (feed.hasRun()) feed.want(...change);
      },
    })),
  ],
  [
    "ignores what is unsubscribed before run()",
    "subscriptions from before",
    byFeed((feed) => ({
      want: (typeUrl, added, dropped) => {
        feed.want(typeUrl, added, feed.hasRun() ? dropped : []);
      },
    })),
  ],
  [
    "supplies 100 names of each subscription",
    "300 resources",
    byFeed((feed) => ({
      want: (typeUrl, added, dropped) => {
        feed.want(typeUrl, added.slice(0, 100), dropped);
      },
    })),
  ],
  [
    "settles an interest before its members",
    "is settled with all",
    byFeed((feed) => ({
      run: async (sink, signal) => {
        sink.commit({ settled: [{ typeUrl: TYPE, interest: { name: "*" } }] });
        await feed.run(sink, signal);
      },
    })),
  ],
  [
    "keeps a member that was removed",
    "is settled with all",
    bySink((sink) => ({
      commit: (transaction) =>
        transaction.remove === undefined ? sink.commit(transaction) : { revision: 0 },
    })),
  ],
  [
    "settles an interest only with a member",
    "without members",
    bySink((sink) => {
      let isEmpty = true;
      return {
        commit: (transaction) => {
          if (transaction.put !== undefined) isEmpty = false;
          return isEmpty ? { revision: 0 } : sink.commit(transaction);
        },
      };
    }),
  ],
  [
    "does not say that a name is missing",
    "a name that does not exist",
    bySink((sink) => ({
      commit: (transaction) =>
        transaction.remove === undefined ? sink.commit(transaction) : { revision: 0 },
    })),
  ],
  [
    "throws at an invalid name",
    "an invalid name",
    byFeed((feed) => ({
      want: (typeUrl, added, dropped) => {
        if (added.some(({ name }) => name.includes("%"))) throw new Error("invalid name");
        feed.want(typeUrl, added, dropped);
      },
    })),
  ],
  [
    "ignores an invalid name",
    "an invalid name",
    byFeed((feed) => ({
      want: (typeUrl, added, dropped) => {
        feed.want(
          typeUrl,
          added.filter(({ name }) => !name.includes("%")),
          dropped,
        );
      },
    })),
  ],
  [
    "skips the newest state",
    "a changed resource",
    bySink((sink) => ({
      commit: (transaction) =>
        stateIn(transaction) === 9 ? { revision: 0 } : sink.commit(transaction),
    })),
  ],
  [
    "goes back to an older state",
    "a changed resource",
    bySink((sink) => {
      let fifth: Parameters<ResourceSink["commit"]>[0] | undefined;
      return {
        commit: (transaction) => {
          if (stateIn(transaction) === 5) fifth = transaction;
          if (stateIn(transaction) === 9 && fifth !== undefined) sink.commit(fifth);
          return sink.commit(transaction);
        },
      };
    }),
  ],
  [
    "keeps what was removed",
    "a removed resource",
    bySink((sink) => ({ commit: ({ put = [] }) => sink.commit({ put }) })),
  ],
  [
    "has a name twice in one transaction",
    "a subscribed name",
    bySink((sink) => ({
      commit: ({ put = [], ...rest }) => sink.commit({ ...rest, put: [...put, ...put] }),
    })),
  ],
  [
    "does not report an outage",
    "an outage keeps",
    bySink(() => ({ unavailable: () => undefined })),
  ],
  [
    "does not report the end of an outage",
    "an outage keeps",
    bySink((sink) => ({
      unavailable: (scope, error) => {
        if (error !== undefined) sink.unavailable(scope, error);
      },
    })),
  ],
  [
    "removes what it cannot reach",
    "an outage keeps",
    bySink((sink) => ({
      unavailable: (scope, error) => {
        if (error !== undefined) sink.commit({ remove: [{ typeUrl: TYPE, name: "a" }] });
        sink.unavailable(scope, error);
      },
    })),
  ],
  [
    "does not compare after an outage",
    "a change during an outage",
    bySink((sink) => {
      let wasOut = false;
      return {
        commit: (transaction) => (wasOut ? { revision: 0 } : sink.commit(transaction)),
        unavailable: (scope, error) => {
          wasOut = true;
          sink.unavailable(scope, error);
        },
      };
    }),
  ],
  [
    "supplies what is unsubscribed",
    "an unsubscribed name",
    byFeed((feed) => ({
      want: (typeUrl, added) => {
        feed.want(typeUrl, added, []);
      },
    })),
  ],
  [
    "fails when a resource is rejected",
    "does not end the feed",
    byFeed((feed) => ({
      run: (sink, signal) =>
        new Promise((resolve, reject) => {
          const strict = forwardSink(sink, () => ({
            commit: (transaction) => {
              const committed = sink.commit(transaction);
              if (committed.rejected !== undefined) reject(new Error("rejected"));
              return committed;
            },
          }));
          feed.run(strict, signal).then(resolve, reject);
        }),
    })),
  ],
  [
    "commits nothing while a resource is rejected",
    "a rejected resource does not stop",
    bySink((sink) => {
      let isStopped = false;
      return {
        commit: (transaction) => {
          if (isStopped) return { revision: 0 };
          const committed = sink.commit(transaction);
          isStopped = committed.rejected !== undefined;
          return committed;
        },
      };
    }),
  ],
  [
    "commits after its end",
    "nothing is committed after it",
    byFeed((feed) => ({
      run: (sink, signal) => {
        void feed.run(sink, new AbortController().signal);
        return new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            resolve();
          });
        });
      },
    })),
  ],
  [
    "commits although its signal was aborted before",
    "aborted before run()",
    byFeed((feed) => ({
      run: async (sink, signal) => {
        sink.commit({});
        await feed.run(sink, signal);
      },
    })),
  ],
  [
    "waits for an abort that has already happened",
    "aborted before run()",
    byFeed((feed) => ({
      run: async (sink) => {
        await feed.run(sink, new AbortController().signal);
      },
    })),
  ],
  [
    "does not end in an outage",
    "an abort during an outage",
    byFeed((feed) => ({
      run: async (sink, signal) => {
        const outage = { isOpen: false };
        const noting = forwardSink(sink, () => ({
          unavailable: (scope, error) => {
            outage.isOpen = error !== undefined;
            sink.unavailable(scope, error);
          },
        }));
        await feed.run(noting, signal);
        if (outage.isOpen) await new Promise(() => undefined);
      },
    })),
  ],
];

/** Returns the state of the first resource of a transaction. */
function stateIn({ put = [] }: Parameters<ResourceSink["commit"]>[0]): number | undefined {
  return put[0]?.resource.payload.value[0];
}

describe("checkFeed(), on a feed that", () => {
  it.each(defects)("%s: the case fails", async (_what, found, make) => {
    const [each, ...others] = checkFeed(make, { timeoutMs: 50 }).filter(({ name }) =>
      name.includes(found),
    );
    expect(others).toEqual([]);
    expect(await each?.check()).toMatchObject({ kind: "failed" });
  });

  it("each case finds at least one defect", () => {
    const names = checkFeed(() => makeMapFeed()).map(({ name }) => name);
    expect(names.filter((name) => !defects.some(([, found]) => name.includes(found)))).toEqual([]);
  });
});
