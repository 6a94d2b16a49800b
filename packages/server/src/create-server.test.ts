import { createCache } from "@xdstp/cache";
import { type ByteStreamHandler, XdsError } from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import { envoyTypes } from "@xdstp/resource-types";
import { createManualScheduler, createMemoryStream } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import {
  adsVariants,
  paths,
  perTypeVariants,
  readyCache,
  serve,
  sourceWith,
  sourceWithTopic,
  topicWith,
  types,
  variants,
  type Harness,
  type VariantName,
} from "../test/harness.ts";
import { createServer } from "./create-server.ts";
import type { ServerOptions } from "./xds-server.ts";

/** Creates a harness on a cache with these clusters. */
function withClusters(
  ...names: readonly string[]
): Harness & { readonly cache: ReturnType<typeof readyCache> } {
  const cache = readyCache();
  for (const name of names) cache.put({ typeUrl: types.cluster, name, value: payload(name) });
  return { ...serve(cache), cache };
}

const kindOf = (variant: VariantName): "delta" | "sotw" =>
  variant.startsWith("delta") ? "delta" : "sotw";

describe.each(variants)("createServer().accept() (%s)", (variant) => {
  it(`serves what was asked for (${variant}) [B-STREAM-1]`, () => {
    const { open, turn } = withClusters("a", "b", "c");
    const call = open(variant);
    call.ask(types.cluster, ["a", "c"]);
    turn();
    const response = call.next();
    expect(response).toMatchObject({ typeUrl: types.cluster, removed: [] });
    expect(response.names).toEqual(["a", "c"]);
    expect(call.unread).toBe(0);
  });

  it(`turns streams away until the source is ready, and the first response is complete then (${variant}) [S-STREAM-9]`, () => {
    const cache = createCache({ types: envoyTypes });
    const { open, turn, events } = serve(cache);
    const early = open(variant);
    expect(early.closed).toEqual({
      code: 14,
      message: "the first complete state is not loaded yet",
    });
    expect(events).toEqual([
      { kind: "rejected", path: paths[variant], peer: "192.0.2.1:5", status: early.closed },
    ]);

    cache.transaction(({ put }) => {
      put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      put({ typeUrl: types.cluster, name: "b", value: payload("b") });
    });
    const call = open(variant);
    call.ask(types.cluster, ["a", "b"]);
    turn();
    expect(call.next().names).toEqual(["a", "b"]);
    expect(call.closed).toBeUndefined();
  });

  it(`shows what was sent, accepted and rejected, and why (${variant}) [S-ACK-9]`, () => {
    const { open, turn, server, cache, clock } = withClusters("a");
    const call = open(variant, { id: "n", cluster: "c", userAgentName: "test" });
    clock.advance(1000);
    call.ask(types.cluster, ["a"]);
    turn();
    const good = call.next();
    call.ack(good);
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    turn();
    const bad = call.next();
    expect(server.status()[0]?.types[0]).toMatchObject({
      state: "STALE",
      pendingSince: 1000,
      versionSent: bad.version,
      versionAccepted: good.version,
    });
    clock.advance(500);
    call.nack(bad, "no such thing");

    expect(server.status()).toMatchObject([
      {
        variant: kindOf(variant),
        peer: "192.0.2.1:5",
        connectedAt: 0,
        node: { id: "n", cluster: "c", userAgentName: "test" },
        types: [
          {
            typeUrl: types.cluster,
            state: "NACKED",
            subscriptions: 1,
            wildcard: false,
            nacks: 1,
            stuck: false,
            versionSent: bad.version,
            nonceSent: bad.nonce,
            versionAccepted: good.version,
            nonceAccepted: good.nonce,
            lastError: { code: 3, message: "no such thing", at: 1500, version: bad.version },
          },
        ],
      },
    ]);
    call.cancel();
    expect(server.status()).toEqual([]);
  });

  it(`names itself in each response, or does not (${variant}) [B-NODE-9]`, () => {
    const identifierOf = (options: { readonly controlPlane?: string }): string | undefined => {
      const { open, turn } = serve(readyCache(), options);
      const call = open(variant);
      call.ask(types.cluster, ["*"]);
      turn();
      return call.next().controlPlane;
    };
    expect(identifierOf({})).toBe("xdstp");
    expect(identifierOf({ controlPlane: "mine" })).toBe("mine");
    expect(identifierOf({ controlPlane: "" })).toBeUndefined();
  });

  it(`tells what happens in the order in which it happens (${variant})`, () => {
    const { open, turn, cache, events } = withClusters("a");
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    call.ack(call.next());
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    turn();
    const bad = call.next();
    call.nack(bad, "no");
    call.end();
    turn();
    expect(events).toMatchObject([
      { kind: "connect", stream: { variant: kindOf(variant), peer: "192.0.2.1:5" } },
      { kind: "subscribe", typeUrl: types.cluster, added: ["a"], dropped: [] },
      { kind: "push", typeUrl: types.cluster, resources: 1, removed: 0 },
      { kind: "ack", typeUrl: types.cluster },
      { kind: "push", version: bad.version, nonce: bad.nonce },
      { kind: "nack", version: bad.version, nonce: bad.nonce, error: { code: 3, message: "no" } },
      { kind: "disconnect", code: 0 },
    ]);
    expect(new Set(events.map((event) => ("stream" in event ? event.stream.id : -1))).size).toBe(1);
  });

  it(`keeps nothing of 1,000 streams that have ended (${variant}) [S-STREAM-10]`, () => {
    const { open, turn, cache, clock, server } = withClusters("a", "b");
    for (let count = 0; count < 1000; count++) {
      const call = open(variant);
      call.ask(types.cluster, ["a", "*"]);
      turn();
      if (count % 2 === 0) call.ack(call.next());
      expect(cache.counters.topics).toBe(2);
      call.cancel();
    }
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    turn();
    expect(server.status()).toEqual([]);
    expect(cache.counters.topics).toBe(0);
    clock.advance(60_000);
    expect(clock.pending).toBe(0);
  });

  it(`sends what is due, then ends streams with OK, and takes no new ones (${variant}) [S-STREAM-13]`, async () => {
    const { open, turn, cache, server } = withClusters("a");
    const call = open(variant);
    call.ask(types.cluster, ["a"]);
    turn();
    call.ack(call.next());
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    const closing = server.close();
    expect(server.close()).toBe(closing);
    expect(open(variant).closed).toEqual({ code: 14, message: "the server is shutting down" });
    expect(call.closed).toBeUndefined();
    turn();
    await closing;
    expect(call.next().names).toEqual(["a"]);
    expect(call.closed).toEqual({ code: 0, message: "the server is shutting down" });
    expect(server.status()).toEqual([]);
  });

  it(`ends the stream of a message that cannot be decoded, and no other (${variant}) [S-STREAM-7]`, () => {
    const { open, turn } = withClusters("a");
    const [broken, healthy] = [open(variant), open(variant)];
    broken.send(Uint8Array.of(0xff, 0xff, 0xff));
    expect(broken.closed).toEqual({ code: 3, message: "the request cannot be decoded" });
    healthy.ask(types.cluster, ["a"]);
    turn();
    expect(healthy.next().names).toEqual(["a"]);
  });

  it(`keeps to the limits that it was given (${variant}) [S-LIM-4]`, () => {
    const { open } = serve(readyCache(), { limits: { stream: { subscriptions: 2 } } });
    const call = open(variant);
    call.ask(types.cluster, ["a", "b", "c"]);
    expect(call.closed).toEqual({ code: 8, message: "more than 2 subscriptions of one type" });
  });
});

describe.each(adsVariants)("createServer().accept() (%s)", (variant) => {
  it(`wants a type in every request (${variant}) [S-TYPE-2]`, () => {
    const call = withClusters("a").open(variant);
    call.ask("", ["a"]);
    expect(call.closed).toEqual({ code: 3, message: "type_url is missing" });
  });

  it(`answers for a type that nobody serves, and goes on with the others (${variant}) [S-STREAM-8]`, () => {
    const { open, turn, cache } = withClusters("a");
    const call = open(variant);
    call.ask(types.own, ["x", "y"]);
    call.ask(types.cluster, ["a"]);
    turn();
    const unknown = call.next();
    expect(unknown).toMatchObject({
      typeUrl: types.own,
      names: [],
      removed: variant === "delta/ads" ? ["x", "y"] : [],
    });
    expect(unknown.version).not.toBe("");
    const known = call.next();
    expect(known).toMatchObject({ typeUrl: types.cluster, names: ["a"] });
    call.ack(known);
    cache.put({ typeUrl: types.cluster, name: "a", value: payload("a", "changed") });
    turn();
    expect(call.next()).toMatchObject({ typeUrl: types.cluster, names: ["a"] });
    expect(call.closed).toBeUndefined();
  });

  it(`serves a type of one's own, of which it knows nothing (${variant}) [B-STREAM-4]`, () => {
    const cache = readyCache();
    cache.put({ typeUrl: types.own, name: "dark-mode", value: Uint8Array.of(0x08, 0x01) });
    const { open, turn } = serve(cache);
    const call = open(variant, { id: "n", clientFeatures: ["xds.config.resource-in-sotw"] });
    call.ask(types.own, ["dark-mode"]);
    turn();
    expect(Buffer.from(call.take() ?? []).includes(Buffer.from([0x12, 0x02, 0x08, 0x01]))).toBe(
      true,
    );
  });

  it(`says of a name of a foreign authority that it is missing (${variant}) [S-AUTH-8]`, () => {
    const cache = readyCache({ authorities: ["ours"] });
    const { open, turn } = serve(cache);
    const call = open(variant);
    const foreign = "xdstp://theirs/envoy.config.cluster.v3.Cluster/x";
    call.ask(types.cluster, [foreign]);
    turn();
    expect(call.next()).toMatchObject({
      names: [],
      removed: variant === "delta/ads" ? [foreign] : [],
    });
  });
});

describe.each(perTypeVariants)("createServer().accept() (%s)", (variant) => {
  it(`takes an empty type for that of the service (${variant}) [S-TYPE-2]`, () => {
    const { open, turn, server } = withClusters("a");
    const call = open(variant);
    call.ask("", ["a"]);
    turn();
    expect(call.next()).toMatchObject({ typeUrl: types.cluster, names: ["a"] });
    expect(server.status()).toMatchObject([
      { service: types.cluster, types: [{ typeUrl: types.cluster }] },
    ]);
  });

  it(`rejects another type than that of the service (${variant}) [S-STREAM-8]`, () => {
    const call = withClusters("a").open(variant);
    call.ask(types.listener, ["a"]);
    expect(call.closed).toEqual({ code: 3, message: "type_url is not the type of this service" });
  });
});

describe("createServer({ services })", () => {
  it("offers what is listed and nothing else", () => {
    const { openPath, server } = serve(readyCache(), {
      services: [{ service: "acme.v1.Ads", delta: "Delta" }],
    });
    expect(openPath("/acme.v1.Ads/Delta").closed).toBeUndefined();
    expect(openPath(paths["delta/ads"]).closed).toEqual({ code: 12, message: "unknown method" });
    expect(server.status()).toHaveLength(1);
  });

  it.each(["delta", "sotw"] as const)(
    "adds a service for a type of one's own by a row of data (%s/per-type)",
    (variant) => {
      const method = variant === "delta" ? "DeltaFlags" : "StreamFlags";
      const cache = readyCache();
      cache.put({ typeUrl: types.own, name: "dark-mode", value: payload("dark-mode") });
      const { openPath, turn } = serve(cache, {
        services: [
          { typeUrl: types.own, service: "acme.v1.FlagDiscoveryService", [variant]: method },
        ],
      });
      const call = openPath(`/acme.v1.FlagDiscoveryService/${method}`, {
        id: "n",
        clientFeatures: ["xds.config.resource-in-sotw"],
      });
      call.ask("", ["dark-mode"]);
      turn();
      expect(call.next()).toMatchObject({ typeUrl: types.own });
      expect(call.closed).toBeUndefined();
    },
  );
});

describe("createServer().events()", () => {
  it("tells a listener that comes later what happens from then on, until it is removed", () => {
    const turns = createManualScheduler();
    const server = createServer({
      source: readyCache(),
      scheduler: createScheduler({ later: turns.later }),
    });
    const open = (): ReturnType<typeof createMemoryStream> =>
      createMemoryStream((out) => server.accept(paths["delta/ads"], "p", out) as ByteStreamHandler);
    const early = open();
    const heard: string[] = [];
    const remove = server.events(({ kind }) => {
      heard.push(kind);
    });
    early.cancel();
    const late = open();
    remove();
    late.cancel();
    expect(heard).toEqual(["disconnect", "connect"]);
  });
});

describe("createServer() with faults", () => {
  it.each([
    ["no options", undefined, "source is missing"],
    ["options without a source", {}, "source is missing"],
    ["a source that is none", { source: "clusters" }, "source is not a ResourceSource"],
    ["null for a source", { source: null }, "source is not a ResourceSource"],
  ])("says of %s what is wrong, and what to give", (_, options, reason) => {
    const make = (): unknown => createServer(options as unknown as ServerOptions);
    expect(make).toThrow(reason);
    expect(make).toThrow("createServer({ source: createCache() })");
  });

  it("goes on when a listener throws, and tells of it once", () => {
    const heard: string[] = [];
    const cache = readyCache();
    const { server, open, turn } = serve(cache, {
      onEvent: (event) => {
        heard.push(event.kind);
        throw new Error("listener");
      },
    });
    const others: string[] = [];
    const remove = server.events((event) => {
      others.push(event.kind);
    });
    const call = open("delta/ads");
    call.ask(types.cluster, ["*"]);
    turn();
    expect(call.next().names).toEqual([]);
    expect(others).toEqual(["fault", "connect", "fault", "subscribe", "fault", "push"]);
    remove();
    call.cancel();
    expect(others).toHaveLength(6);
    expect(heard.filter((kind) => kind !== "fault")).toEqual([
      "connect",
      "subscribe",
      "push",
      "disconnect",
    ]);
  });

  it.each(variants)(
    "ends a stream with INTERNAL when the source throws on a request, and no other (%s) [S-STREAM-7]",
    (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      const source = sourceWithTopic(cache, "bad", () => {
        throw new Error("secret");
      });
      const { open, turn, events } = serve(source);
      const [broken, healthy] = [open(variant), open(variant)];
      broken.ask(types.cluster, ["bad"]);
      expect(broken.closed).toEqual({ code: 13, message: "internal error" });
      expect(events.find(({ kind }) => kind === "fault")).toMatchObject({
        where: "request",
        error: new Error("secret"),
      });
      healthy.ask(types.cluster, ["a"]);
      turn();
      expect(healthy.next().names).toEqual(["a"]);
    },
  );

  it.each(variants)(
    "ends a stream with INTERNAL when the source throws in a later turn, and serves the others (%s) [S-STREAM-7]",
    (variant) => {
      const cache = readyCache();
      cache.put({ typeUrl: types.cluster, name: "a", value: payload("a") });
      let isLater = false;
      const source = sourceWithTopic(cache, "bad", () =>
        topicWith({
          members() {
            if (isLater) throw new Error("secret");
            return [];
          },
          unwatch() {
            throw new Error("worse");
          },
        }),
      );
      const { open, turn, events } = serve(source);
      const [broken, healthy] = [open(variant), open(variant)];
      broken.ask(types.cluster, ["bad"]);
      healthy.ask(types.cluster, ["a"]);
      isLater = true;
      turn();
      expect(broken.closed).toEqual({ code: 13, message: "internal error" });
      expect(healthy.next().names).toEqual(["a"]);
      expect(events.filter(({ kind }) => kind === "fault")).toMatchObject([
        { where: "turn", error: new Error("secret") },
        { where: "end", error: new Error("worse") },
      ]);
    },
  );

  it("turns a stream away with INTERNAL when the source cannot say whether it is ready", () => {
    const source = sourceWith(readyCache(), {
      ready: () => {
        throw new Error("secret");
      },
    });
    expect(serve(source).open("delta/ads").closed).toEqual({ code: 13, message: "internal error" });
  });

  it("names a limit that cannot be", () => {
    expect(() => serve(readyCache(), { limits: { stream: { types: 0 } } })).toThrow(XdsError);
  });
});
