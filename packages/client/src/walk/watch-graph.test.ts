import { createCache, type Cache, type RawResource } from "@xdstp/cache";
import { XdsError, type Reference, type ResourceFeed } from "@xdstp/core";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import {
  aggregate,
  cluster,
  clusterUrl,
  endpoints,
  endpointsUrl,
  listener,
  listenerUrl,
  routes,
} from "../../test/envoy-resources.ts";
import { watchGraph, type GraphWatchOptions } from "./watch-graph.ts";
import type { Composition } from "./composition.ts";

const root: Reference = { typeUrl: listenerUrl, name: "l" };

function put(cache: Cache, ...resources: readonly RawResource[]): void {
  cache.transaction((writer) => {
    for (const resource of resources) writer.put(resource);
  });
}

/** Reports that names do not exist. */
function missing(cache: Cache, typeUrl: string, ...names: readonly string[]): void {
  cache.commit({ remove: names.map((name) => ({ typeUrl, name })) });
}

const shortName = ({ typeUrl, name }: Reference): string =>
  `${typeUrl.split(".").at(-1) ?? ""} ${name}`;
const reached = ({ graph }: Composition): readonly string[] | undefined =>
  graph && [...graph.nodes.values()].map(shortName);
const pending = (composition: Composition): readonly string[] =>
  composition.pending.map(({ from, error, ...gap }) =>
    [
      shortName(gap),
      ...(from === undefined ? [] : [`from ${shortName(from)}`]),
      ...(error === undefined ? [] : [error.code]),
    ].join(", "),
  );

/**
 * Creates a cache that is filled on demand, and a walk from the listener `l`, which begins when
 * `walk` is called.
 */
function useGraph(options: Partial<GraphWatchOptions> = {}, from: Reference = root) {
  const clock = createFakeClock();
  const cache = createCache({ types: envoyTypes, clock });
  const wanted = new Set<string>();
  const feed: ResourceFeed = {
    run: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          resolve();
        });
      }),
    want: (typeUrl, added, dropped) => {
      for (const { name } of dropped) wanted.delete(shortName({ typeUrl, name }));
      for (const { name } of added) wanted.add(shortName({ typeUrl, name }));
    },
  };
  cache.addFeed(feed);
  const told: Composition[] = [];
  let due: (() => void) | undefined;
  const watch = watchGraph(cache, from, {
    clock,
    later: (walk) => {
      due = walk;
    },
    onWalk: (composition) => {
      told.push(composition);
    },
    ...options,
  });
  onTestFinished(async () => {
    watch.close();
    await cache.close();
  });
  const walk = (): Composition => {
    due?.();
    due = undefined;
    return watch.composition;
  };
  return {
    cache,
    clock,
    wanted,
    watch,
    told,
    walk,
    get due() {
      return due !== undefined;
    },
  };
}

const whole = [listener("l", "r"), routes("r", "a"), cluster("a"), endpoints("a")];
const wholeNames = ["Listener l", "RouteConfiguration r", "Cluster a", "ClusterLoadAssignment a"];

describe("a watched graph", () => {
  it("is in force once all that is reached is there, and not before [C-ORD-7] [C-GRPC-13]", () => {
    const { cache, walk } = useGraph();
    const seen = whole.map((resource) => {
      put(cache, resource);
      return [reached(walk()), pending(walk())];
    });
    expect(seen).toEqual([
      [undefined, ["RouteConfiguration r, from Listener l"]],
      [undefined, ["Cluster a, from RouteConfiguration r"]],
      [undefined, ["ClusterLoadAssignment a, from Cluster a"]],
      [wholeNames, []],
    ]);
  });

  it("stays in force while a newer state waits for what it refers to, as of the revision when it was whole [C-ORD-7]", () => {
    const { cache, walk } = useGraph();
    put(cache, ...whole);
    const before = walk();
    put(cache, routes("r", "b"), endpoints("a", 2));
    expect([reached(walk()), pending(walk())]).toEqual([
      wholeNames,
      ["Cluster b, from RouteConfiguration r"],
    ]);
    expect(walk().graph).toBe(before.graph);
    put(cache, cluster("b"));
    put(cache, endpoints("b"));
    expect(reached(walk())).toEqual([
      "Listener l",
      "RouteConfiguration r",
      "Cluster b",
      "ClusterLoadAssignment b",
    ]);
  });

  it("wants each name once, and lets the old ones go when the new ones are in force [S-ORD-3]", async () => {
    const { cache, walk, wanted } = useGraph();
    const now = async (): Promise<readonly string[]> => {
      walk();
      await Promise.resolve();
      return [...wanted].sort();
    };
    put(cache, ...whole);
    expect(await now()).toEqual([...wholeNames].sort());
    put(cache, routes("r", "b"));
    expect(await now()).toEqual([...wholeNames, "Cluster b"].sort());
    put(cache, cluster("b", { service: "s" }), endpoints("s"));
    expect(await now()).toEqual([
      "Cluster b",
      "ClusterLoadAssignment s",
      "Listener l",
      "RouteConfiguration r",
    ]);
  });

  it("wants nothing any more when it is closed", async () => {
    const { cache, walk, wanted, watch } = useGraph();
    put(cache, ...whole);
    walk();
    watch.close();
    await Promise.resolve();
    expect([...wanted]).toEqual([]);
  });

  it("says what does not exist, and by whom it is named", () => {
    const { cache, walk } = useGraph();
    put(cache, ...whole);
    walk();
    put(cache, routes("r", "a", "b"));
    walk();
    missing(cache, clusterUrl, "b");
    expect([reached(walk()), pending(walk()), walk().error?.code]).toEqual([
      wholeNames,
      ["Cluster b, from RouteConfiguration r, NOT_FOUND"],
      "NOT_FOUND",
    ]);
  });

  it("stays in force when a part of it goes, and ends when its root does [C-GRPC-17]", () => {
    const { cache, walk } = useGraph();
    put(cache, ...whole);
    walk();
    missing(cache, endpointsUrl, "a");
    expect([reached(walk()), pending(walk())]).toEqual([
      wholeNames,
      ["ClusterLoadAssignment a, from Cluster a, NOT_FOUND"],
    ]);
    missing(cache, listenerUrl, "l");
    expect([reached(walk()), pending(walk())]).toEqual([undefined, ["Listener l, NOT_FOUND"]]);
    put(cache, ...whole);
    walk();
    expect(reached(walk())).toEqual(wholeNames);
  });

  it("says beside what is in force that it may be old", () => {
    const { cache, walk } = useGraph();
    put(cache, ...whole);
    walk();
    const away = new XdsError("UNAVAILABLE", "away");
    cache.unavailable({}, away);
    expect([reached(walk()), pending(walk()), walk().error]).toEqual([wholeNames, [], away]);
    cache.unavailable({}, undefined);
    expect(walk().error).toBeUndefined();
  });

  it("is the same object as long as nothing in it has changed, whatever else has", () => {
    const { cache, walk } = useGraph();
    put(cache, ...whole);
    const first = walk().graph;
    put(cache, cluster("other"));
    put(cache, cluster("a"));
    expect(walk().graph).toBe(first);
  });

  it("ends where a cycle began", () => {
    const { cache, walk } = useGraph();
    put(
      cache,
      listener("l", "r"),
      routes("r", "x"),
      aggregate("x", "y", "a"),
      aggregate("y", "x"),
      cluster("a"),
      endpoints("a"),
    );
    expect(reached(walk())).toEqual([
      "Listener l",
      "RouteConfiguration r",
      "Cluster x",
      "Cluster y",
      "Cluster a",
      "ClusterLoadAssignment a",
    ]);
  });

  it("is not put in force where it is larger than the limit, and says so", () => {
    const { cache, walk, wanted } = useGraph({ maxResources: 5 });
    put(cache, ...whole);
    expect(reached(walk())).toEqual(wholeNames);
    put(cache, routes("r", ...Array.from({ length: 1_000 }, (_, n) => `c${n}`)));
    expect([reached(walk()), walk().error?.message]).toEqual([
      wholeNames,
      '[RESOURCE_EXHAUSTED] more than 5 names are reached from "l"; follow fewer types, or raise maxResources',
    ]);
    expect(wanted.size).toBeLessThan(10);
    put(cache, routes("r", "a"));
    expect([reached(walk()), walk().error]).toEqual([wholeNames, undefined]);
  });

  it("goes as deep as there are names", () => {
    const { cache, walk } = useGraph({}, { typeUrl: clusterUrl, name: "c0" });
    const depth = 5_000;
    put(
      cache,
      ...Array.from({ length: depth }, (_, n) =>
        n < depth - 1 ? aggregate(`c${n}`, `c${n + 1}`) : aggregate(`c${n}`),
      ),
    );
    expect(walk().graph?.nodes.size).toBe(depth);
  });

  it.each([
    ["*", '[INVALID_ARGUMENT] "*" is not a name, but all of a type'],
    [
      "xdstp://a/envoy.config.cluster.v3.Cluster/x/*",
      '[UNIMPLEMENTED] "xdstp://a/envoy.config.cluster.v3.Cluster/x/*" is a glob collection, which a walk does not follow; leave its type out',
    ],
    [
      "xdstp://a/envoy.config.cluster.v3.ClusterCollection/x",
      '[UNIMPLEMENTED] "xdstp://a/envoy.config.cluster.v3.ClusterCollection/x" is a list collection, which a walk does not follow; leave its type out',
    ],
    [
      "xdstp://a/envoy.config.listener.v3.Listener/x",
      '[INVALID_ARGUMENT] "xdstp://a/envoy.config.listener.v3.Listener/x" has the type envoy.config.listener.v3.Listener; it has to be envoy.config.cluster.v3.Cluster',
    ],
    ["xdstp://a/%", '[INVALID_ARGUMENT] "xdstp://a/%" is not an xdstp name'],
  ])(
    "says of the reference %s why it is not followed, and asks for nothing",
    async (name, message) => {
      const { cache, walk, wanted } = useGraph();
      put(cache, listener("l", "r"), routes("r", name));
      expect(walk().pending.map(({ error }) => error?.message)).toEqual([message]);
      await Promise.resolve();
      expect([...wanted]).toEqual(["Listener l", "RouteConfiguration r"]);
    },
  );

  it("has each spelling of a name that is referred to", () => {
    const { cache, walk } = useGraph();
    const spelled = (query: string): string =>
      `xdstp://a/envoy.config.cluster.v3.Cluster/x?${query}`;
    put(
      cache,
      listener("l", "r"),
      routes("r", spelled("a=1&b=2"), spelled("b=2&a=1")),
      { ...cluster("x", { service: "s" }), name: spelled("a=1&b=2") },
      endpoints("s"),
    );
    expect(reached(walk())).toEqual([
      "Listener l",
      "RouteConfiguration r",
      `Cluster ${spelled("a=1&b=2")}`,
      `Cluster ${spelled("b=2&a=1")}`,
      "ClusterLoadAssignment s",
    ]);
  });

  it("leaves out what is not to be followed", () => {
    const { cache, walk } = useGraph({ follow: ({ typeUrl }) => typeUrl !== endpointsUrl });
    put(cache, listener("l", "r"), routes("r", "a"), cluster("a"));
    expect(reached(walk())).toEqual(wholeNames.slice(0, 3));
  });

  it("walks once, whatever changes at once, and reads the references of what has changed only", () => {
    const graph = useGraph();
    const { cache, walk, told } = graph;
    const read: string[] = [];
    const types = envoyTypes.map((type) => ({
      ...type,
      references: (payload: Uint8Array) => {
        read.push(type.typeUrl);
        return type.references?.(payload) ?? [];
      },
    }));
    cache.descriptor = (typeUrl) => types.find((type) => type.typeUrl === typeUrl);
    put(cache, listener("l", "r"), routes("r", ...Array.from({ length: 50 }, (_, n) => `c${n}`)));
    walk();
    for (let n = 0; n < 50; n++) put(cache, cluster(`c${n}`), endpoints(`c${n}`));
    walk();
    expect([graph.due, told.length, read.length]).toEqual([false, 2, 102]);
    put(cache, endpoints("c7", 2));
    walk();
    expect([told.length, read.length]).toEqual([3, 103]);
  });

  it("looks at what has changed only, as long as that refers to the same as before", () => {
    const looked: string[] = [];
    const { cache, walk } = useGraph({
      faultOf: (_, { name }) => {
        looked.push(name);
        return undefined;
      },
    });
    put(cache, ...whole);
    walk();
    const since = (): readonly string[] => {
      looked.length = 0;
      walk();
      return [...looked];
    };
    put(cache, endpoints("a", 2));
    expect(since()).toEqual(["a"]);
    put(cache, cluster("a", { seconds: 2 }), endpoints("a", 3));
    expect([since(), walk().graph?.nodes.get(`${endpointsUrl}\na`)?.resource]).toEqual([
      ["a", "a"],
      cache.topic(endpointsUrl, { name: "a" }).get("a")?.resource,
    ]);
    put(cache, cluster("a", { service: "s" }), endpoints("s"));
    expect([since(), reached(walk())]).toEqual([
      ["a", "l", "r", "a", "s"],
      [...wholeNames.slice(0, 3), "ClusterLoadAssignment s"],
    ]);
  });
});

describe("the first graph, where it may go without what is late", () => {
  it("waits for the time that each name has, then says what it goes without [C-WARM-3]", () => {
    const { cache, clock, walk } = useGraph({ initialFetchMs: 15_000 });
    put(cache, listener("l", "r"), routes("r", "a", "b"), cluster("a"), endpoints("a"));
    walk();
    clock.advance(10_000);
    put(cache, cluster("b"));
    expect(pending(walk())).toEqual(["ClusterLoadAssignment b, from Cluster b"]);
    clock.advance(14_999);
    expect(reached(walk())).toBeUndefined();
    clock.advance(1);
    const { missing: lacked, ...late } = walk();
    expect([
      reached({ missing: [], ...late }),
      lacked.map(shortName),
      late.pending,
      late.error,
    ]).toEqual([
      [...wholeNames.slice(0, 3), "Cluster b", "ClusterLoadAssignment a"],
      ["ClusterLoadAssignment b"],
      [],
      undefined,
    ]);
    expect(clock.pending).toBe(0);
  });

  it("takes what is late when it comes, and from then on does not go without it [C-WARM-3]", () => {
    const { cache, clock, walk } = useGraph({ initialFetchMs: 15_000 });
    put(cache, listener("l", "r"), routes("r", "a"), cluster("a"));
    walk();
    clock.advance(15_000);
    put(cache, cluster("a", { seconds: 2 }));
    expect([walk().missing.map(shortName), walk().graph?.revision]).toEqual([
      ["ClusterLoadAssignment a"],
      cache.revision,
    ]);
    put(cache, endpoints("a"));
    expect([walk().missing, reached(walk())]).toEqual([[], wholeNames]);
    missing(cache, endpointsUrl, "a");
    expect([walk().missing, pending(walk())]).toEqual([
      [],
      ["ClusterLoadAssignment a, from Cluster a, NOT_FOUND"],
    ]);
  });

  it("does not wait for what does not exist or was rejected, and waits while the server is away [C-WARM-3]", () => {
    const { cache, walk } = useGraph({ initialFetchMs: 15_000 });
    put(cache, listener("l", "r"), routes("r", "a", "b"));
    walk();
    cache.unavailable({}, new XdsError("UNAVAILABLE", "away"));
    missing(cache, clusterUrl, "a");
    expect(walk().graph).toBeUndefined();
    cache.unavailable({}, undefined);
    cache.unavailable(
      { typeUrl: clusterUrl, interest: { name: "b" } },
      new XdsError("INVALID_ARGUMENT", "rejected"),
    );
    expect([
      walk().missing.map(({ name, error }) => `${name} ${error?.code ?? ""}`),
      reached(walk()),
    ]).toEqual([
      ["a NOT_FOUND", "b INVALID_ARGUMENT"],
      ["Listener l", "RouteConfiguration r"],
    ]);
  });

  it("does not go without what only a later state refers to", () => {
    const { cache, clock, walk } = useGraph({ initialFetchMs: 15_000 });
    put(cache, ...whole);
    walk();
    put(cache, routes("r", "b"));
    walk();
    clock.advance(100_000);
    missing(cache, clusterUrl, "b");
    expect([reached(walk()), walk().missing]).toEqual([wholeNames, []]);
  });

  it("waits for ever with 0, and always for the root [C-WARM-3]", () => {
    const forEver = useGraph();
    put(forEver.cache, listener("l", "r"));
    forEver.walk();
    forEver.clock.advance(1e9);
    expect([forEver.due, forEver.watch.composition.graph]).toEqual([false, undefined]);
    const rootless = useGraph({ initialFetchMs: 15_000 });
    rootless.walk();
    rootless.clock.advance(1e9);
    expect(rootless.walk().graph).toBeUndefined();
    put(rootless.cache, listener("l", "r"));
    expect(rootless.walk().graph).toBeUndefined();
    expect(rootless.clock.pending).toBe(1);
  });
});
