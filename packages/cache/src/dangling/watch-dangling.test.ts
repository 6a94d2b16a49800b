import type { Reference, ResourceType } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { turn } from "../../test/scene.ts";
import type { Cache } from "../cache.ts";
import { createCache } from "../cache-core.ts";
import type { DanglingEvent } from "./references.ts";
import { watchDangling } from "./watch-dangling.ts";

const route = "type.googleapis.com/acme.Route";
const cluster = "type.googleapis.com/acme.Cluster";

/** A route lists clusters, one per line. */
const types: readonly ResourceType[] = [
  {
    typeUrl: route,
    references: (payload) =>
      new TextDecoder()
        .decode(payload)
        .split("\n")
        .filter((name) => name !== "")
        .map((name): Reference =>
          name.startsWith("!")
            ? { typeUrl: cluster, name: name.slice(1), source: new Uint8Array([1]) }
            : { typeUrl: cluster, name },
        ),
  },
  { typeUrl: cluster },
];

interface Subject {
  readonly cache: Cache;
  readonly put: (typeUrl: string, name: string, ...clusters: readonly string[]) => void;
  /** Resolves with the events since the last call, once promises have settled. */
  readonly told: () => Promise<readonly DanglingEvent[]>;
  readonly list: () => readonly string[];
  readonly events: readonly DanglingEvent[];
}

function useWatch(): Subject {
  const cache = createCache({ types });
  cache.commit({});
  const events: DanglingEvent[] = [];
  const watch = watchDangling(cache, types, (event) => {
    events.push(event);
  });
  return {
    cache,
    put: (typeUrl, name, ...clusters) => {
      cache.put({ typeUrl, name, value: new TextEncoder().encode(clusters.join("\n")) });
    },
    async told() {
      await turn();
      return events.splice(0);
    },
    list: () => watch.list().map(({ name }) => name),
    events,
  };
}

describe("watchDangling", () => {
  it("reports a reference to what is not there once, and that it is served once it appears", async () => {
    const { put, told, list } = useWatch();
    put(route, "web", "api");
    expect(await told()).toEqual([
      {
        kind: "dangling",
        typeUrl: cluster,
        name: "api",
        by: { typeUrl: route, name: "web" },
        others: 0,
      },
    ]);
    put(route, "web", "api", "api");
    put(cluster, "other");
    expect(await told()).toEqual([]);
    expect(list()).toEqual(["api"]);
    put(cluster, "api");
    expect(await told()).toEqual([
      { kind: "resolved", typeUrl: cluster, name: "api", isServed: true },
    ]);
    expect(list()).toEqual([]);
  });

  it("reports what is removed while something refers to it, and the end of the last reference", async () => {
    const { cache, put, told } = useWatch();
    put(cluster, "api");
    put(route, "one", "api");
    put(route, "two", "api");
    expect(await told()).toEqual([]);
    cache.remove(cluster, "api");
    expect(await told()).toMatchObject([{ kind: "dangling", name: "api", others: 1 }]);
    cache.remove(route, "one");
    expect(await told()).toEqual([]);
    put(route, "two");
    expect(await told()).toEqual([
      { kind: "resolved", typeUrl: cluster, name: "api", isServed: false },
    ]);
  });

  it("sees a transaction as a whole", async () => {
    const { cache, put, told } = useWatch();
    cache.transaction((write) => {
      write.put({ typeUrl: route, name: "web", value: new TextEncoder().encode("api") });
      write.put({ typeUrl: cluster, name: "api", value: new Uint8Array() });
    });
    put(route, "more", "late");
    put(cluster, "late");
    expect(await told()).toEqual([]);
  });

  it("checks in a turn of its own, since a commit of many resources already fills one", async () => {
    const { put, told, events } = useWatch();
    put(route, "web", "api");
    await Promise.resolve();
    expect(events).toEqual([]);
    expect(await told()).toMatchObject([{ kind: "dangling", name: "api" }]);
  });

  it("sees that a resource is gone although its removal is forgotten by the time it looks", async () => {
    const clock = createFakeClock();
    const cache = createCache({ types, clock, tombstoneMs: 1_000 });
    cache.commit({});
    const events: string[] = [];
    watchDangling(cache, types, ({ kind, name }) => {
      events.push(`${kind} ${name}`);
    });
    cache.put({ typeUrl: route, name: "web", value: new TextEncoder().encode("api") });
    await turn();
    cache.remove(route, "web");
    clock.advance(2_000);
    cache.put({ typeUrl: route, name: "shop", value: new TextEncoder().encode("other") });
    await turn();
    expect(events).toEqual(["dangling api", "dangling other", "resolved api"]);
  });

  it("leaves out other authorities, ConfigSources of their own, globs and names with parameters", async () => {
    const { put, told, list } = useWatch();
    put(route, "web", "xdstp://far/acme.Cluster/x", "!elsewhere", "xdstp://far/acme.Cluster/*");
    put(
      route,
      "xdstp://here/acme.Route/web",
      "xdstp://here/acme.Cluster/x",
      "xdstp://here/acme.Cluster/x?a=b",
      "xdstp://far/acme.Cluster/x",
    );
    expect((await told()).map((event) => event.name)).toEqual(["xdstp://here/acme.Cluster/x"]);
    expect(list()).toEqual(["xdstp://here/acme.Cluster/x"]);
  });
});
