import { describe, expect, it } from "vitest";

import { createCache } from "./cache-core.ts";
import { homeType } from "./home-type.ts";

const LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener";
const COLLECTION = "type.googleapis.com/envoy.config.listener.v3.ListenerCollection";
const ALL = "xdstp://a/envoy.config.listener.v3.ListenerCollection/all";

describe("homeType()", () => {
  it.each([
    ["a collection under the type of its members", LISTENER, ALL, COLLECTION],
    ["a collection under its own type", COLLECTION, ALL, COLLECTION],
    [
      "a name of the type itself",
      LISTENER,
      "xdstp://a/envoy.config.listener.v3.Listener/Collection",
      LISTENER,
    ],
    [
      "the collection of another type",
      LISTENER,
      "xdstp://a/envoy.config.cluster.v3.ClusterCollection/all",
      LISTENER,
    ],
    [
      "a glob, which is not a list collection",
      LISTENER,
      "xdstp://a/envoy.config.listener.v3.ListenerCollection/*",
      LISTENER,
    ],
    ["an opaque name", LISTENER, "ListenerCollection", LISTENER],
  ])("files %s [B-TYPE-6]", (_what, typeUrl, name, home) => {
    expect(homeType(typeUrl, name)).toBe(home);
  });
});

describe("list collections in a cache", () => {
  const put = (typeUrl: string): ReturnType<typeof createCache> => {
    const cache = createCache();
    cache.commit({
      put: [
        {
          typeUrl,
          resource: {
            name: ALL,
            version: "1",
            payload: { typeUrl: COLLECTION, value: Uint8Array.of(1) },
          },
        },
      ],
    });
    return cache;
  };

  it.each([
    [LISTENER, COLLECTION],
    [COLLECTION, LISTENER],
    [LISTENER, LISTENER],
    [COLLECTION, COLLECTION],
  ])("are the same put under %s and asked for under %s [B-TYPE-6]", (putUnder, askedUnder) => {
    const cache = put(putUnder);
    expect(
      cache
        .topic(askedUnder, { name: ALL })
        .members()
        .map(({ name, resource }) => [name, resource?.version]),
    ).toEqual([[ALL, "1"]]);
    expect([...cache.held(askedUnder, { name: ALL })]).toMatchObject([{ name: ALL, version: "1" }]);
  });

  it("go when they are removed under either type, and stay out of the wildcard of their members [B-TYPE-6]", () => {
    const cache = put(COLLECTION);
    expect(cache.topic(LISTENER, { name: "*" }).members()).toEqual([]);
    cache.commit({ remove: [{ typeUrl: LISTENER, name: ALL }] });
    expect(cache.topic(COLLECTION, { name: ALL }).get(ALL)).toBeUndefined();
  });

  it("go when a complete state under either type lacks them [B-TYPE-6]", () => {
    const cache = put(LISTENER);
    cache.commit({
      complete: ["other", ALL].map((name) => ({ typeUrl: LISTENER, interest: { name } })),
    });
    expect([...cache.held(COLLECTION)]).toEqual([]);
  });

  it("are filed under their own type beside what has its type already [B-TYPE-6]", () => {
    const cache = createCache();
    const member = {
      typeUrl: LISTENER,
      resource: {
        name: "one",
        version: "1",
        payload: { typeUrl: LISTENER, value: Uint8Array.of(1) },
      },
    };
    const collection = {
      typeUrl: LISTENER,
      resource: {
        name: "target",
        version: "1",
        payload: { typeUrl: COLLECTION, value: Uint8Array.of(1) },
      },
      as: ALL,
    };
    cache.commit({ put: [member, collection] });
    expect(
      [LISTENER, COLLECTION].map((typeUrl) => [...cache.held(typeUrl)].map(({ name }) => name)),
    ).toEqual([["one"], [ALL]]);
    cache.commit({
      remove: [
        { typeUrl: LISTENER, name: "one" },
        { typeUrl: LISTENER, name: ALL },
      ],
    });
    expect([LISTENER, COLLECTION].map((typeUrl) => [...cache.held(typeUrl)])).toEqual([[], []]);
  });

  it("settle under either type [B-TYPE-6]", () => {
    const cache = createCache();
    cache.addFeed({ run: () => Promise.resolve(), want: () => undefined });
    const topic = cache.topic(LISTENER, { name: ALL });
    topic.watch({ wake: () => undefined });
    expect(topic.settled).toBe(false);
    cache.commit({ settled: [{ typeUrl: LISTENER, interest: { name: ALL } }] });
    expect(topic.settled).toBe(true);
  });
});
