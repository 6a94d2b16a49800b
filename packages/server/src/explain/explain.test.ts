import { fromBinary, type JsonObject, toJson } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { systemClock, XdsError } from "@xdstp/core";
import { createPolicy } from "@xdstp/policy";
import type { ServerStream } from "@xdstp/protocol/server";
import { ConfigStatus } from "@xdstp/protos/status";
import { describe, expect, it } from "vitest";

import { payload } from "../../test/client.ts";
import {
  adsVariants,
  type Harness,
  type OpenCall,
  readyCache,
  serve,
  sourceWithTopic,
  topicWith,
  types,
  variants,
} from "../../test/harness.ts";
import { routeTo } from "../../test/route-to.ts";
import type { AccessBook } from "../access/access-book.ts";
import type { Explanation, ServerOptions } from "../index.ts";
import { createExplain } from "./create-explain.ts";

type Cache = ReturnType<typeof readyCache>;

interface World extends Harness {
  readonly cache: Cache;
  /** The explanation of a cluster of node `n`. */
  readonly explain: (name: string, typeUrl?: string) => Promise<Explanation>;
  readonly put: (name: string, text?: string) => void;
  /** The version that the cache gives a cluster. */
  readonly version: (name: string, typeUrl?: string) => string;
}

/** A server on a cache that holds these clusters. */
function worldWith(names: readonly string[], options: Partial<ServerOptions> = {}): World {
  const cache = readyCache({ replacedBytes: 1_000_000 });
  const put = (name: string, text?: string): void => {
    cache.put({ typeUrl: types.cluster, name, value: payload(name, text) });
  };
  for (const name of names) put(name);
  const harness = serve(cache, options);
  return {
    ...harness,
    cache,
    put,
    explain: async (name, typeUrl = types.cluster) =>
      harness.server.explain({ node: "n", typeUrl, name }),
    version: (name, typeUrl = types.cluster) =>
      cache.topic(typeUrl, { name }).get(name)?.resource?.version ?? "",
  };
}

/** Subscribes, and accepts the answer. */
function synced({ turn }: World, call: OpenCall, typeUrl: string, names: readonly string[]): void {
  call.ask(typeUrl, names);
  turn();
  while (call.unread > 0) call.ack(call.next());
}

describe.each(variants)("explain() (%s)", (variant) => {
  it(`has the version that the client accepted, and since when (${variant}) [S-ACK-9]`, async () => {
    const world = worldWith(["web"]);
    const call = world.open(variant);
    world.clock.advance(2_000);
    synced(world, call, types.cluster, ["web"]);
    const explanation = await world.explain("web");
    expect(explanation.text).toBe(
      `n has web in version ${world.version("web")}, since 1970-01-01T00:00:02Z or earlier.`,
    );
    expect(explanation.streams).toMatchObject([
      {
        connectedAt: 0,
        subscription: { by: "name", subscribed: "web" },
        held: { what: "newest", version: world.version("web"), acceptedAt: 2_000 },
        cause: { kind: "accepted" },
      },
    ]);
  });

  it(`does not have what is not subscribed (${variant})`, async () => {
    const world = worldWith(["web", "other"]);
    const call = world.open(variant);
    synced(world, call, types.cluster, ["other"]);
    expect((await world.explain("web")).text).toBe(
      `n does not have web: its one subscription to Cluster does not cover it. The source has web in version ${world.version("web")}.`,
    );
    expect((await world.explain("r", types.route)).text).toBe(
      "n does not have r: it has not subscribed to any RouteConfiguration. The source does not have RouteConfiguration r.",
    );
  });

  it(`does not have what does not exist, and names what does (${variant})`, async () => {
    const world = worldWith(["web"]);
    const call = world.open(variant);
    synced(world, call, types.cluster, ["wbe"]);
    const explanation = await world.explain("wbe");
    expect(explanation.text).toBe("n does not have wbe: it does not exist.");
    expect(explanation.names).toEqual(["web"]);
  });

  it(`was sent a version and has not answered, and keeps the one before (${variant}) [S-ACK-16]`, async () => {
    const world = worldWith(["web"]);
    const call = world.open(variant);
    call.ask(types.cluster, ["web"]);
    world.clock.advance(1_000);
    world.turn();
    const first = world.version("web");
    expect((await world.explain("web")).text).toBe(
      `n does not have web: version ${first} was sent 1970-01-01T00:00:01Z and is not answered yet.`,
    );
    world.clock.advance(1_000);
    call.ack(call.next());
    world.put("web", "new");
    world.clock.advance(1_000);
    world.turn();
    const second = world.version("web");
    expect((await world.explain("web")).text).toBe(
      `n still has version ${first} of web, since 1970-01-01T00:00:02Z or earlier: version ${second} was sent 1970-01-01T00:00:03Z and is not answered yet.`,
    );
    world.put("web", "newer");
    world.turn();
    expect((await world.explain("web")).streams[0]).toMatchObject({
      held: { what: "earlier", version: first },
      cause: { kind: "behind", sentAt: 3_000 },
    });
  });

  it(`has rejected a version, with its text, and keeps the one before (${variant}) [S-ACK-8] [S-ACK-15]`, async () => {
    const world = worldWith(["web"]);
    const call = world.open(variant);
    synced(world, call, types.cluster, ["web"]);
    const first = world.version("web");
    world.put("web", "bad");
    world.turn();
    world.clock.advance(5_000);
    const response = call.next();
    call.nack(response, "no such\nfilter");
    const second = world.version("web");
    expect((await world.explain("web")).text).toBe(
      `n still has version ${first} of web, since 1970-01-01T00:00:00Z or earlier: version ${second} was rejected 1970-01-01T00:00:05Z by n with its response ${response.version}: "no such\\nfilter".`,
    );
  });

  it(`waits for a connection that takes nothing (${variant})`, async () => {
    const world = worldWith(["web"]);
    const call = world.open(variant);
    synced(world, call, types.cluster, ["web"]);
    const first = world.version("web");
    call.fill();
    world.put("web", "new");
    world.turn();
    call.ack(call.next());
    world.put("web", "newer");
    world.turn();
    expect((await world.explain("web")).streams[0]).toMatchObject({
      held: { what: "earlier" },
      cause: { kind: "write-queue" },
    });
    expect((await world.explain("web")).text).toContain(
      `version ${world.version("web")} waits until n reads what was sent to it; its connection takes no more bytes`,
    );
    expect(first).not.toBe(world.version("web"));
  });
});

const time = "1970-01-01T00:00:00Z";

describe.each(adsVariants)("explain() of what waits (%s)", (variant) => {
  /** A client with a cluster `bad` and routes `r` to it, neither of which exists yet. */
  function waiting(
    clusters: readonly string[] = ["bad", "r"],
  ): World & { readonly call: OpenCall } {
    const world = worldWith([]);
    const call = world.open(variant);
    synced(world, call, types.route, clusters);
    synced(world, call, types.cluster, clusters);
    world.cache.transaction(({ put }) => {
      put({ typeUrl: types.cluster, name: "bad", value: payload("bad") });
      put({ typeUrl: types.route, name: "r", value: routeTo("bad") });
    });
    world.turn();
    return { ...world, call };
  }

  it(`names the name that it waits for, and since when (${variant}) [S-ORD-2] [S-ORD-4]`, async () => {
    const { explain, version, call, turn } = waiting();
    const routes = version("r", types.route);
    expect((await explain("r", types.route)).text).toBe(
      `n does not have r: version ${routes} has waited since ${time} for Cluster bad, which n has not accepted.`,
    );
    call.nack(call.next(), "bad is bad");
    turn();
    const explanation = await explain("r", types.route);
    expect(explanation.text).toBe(
      `n does not have r: version ${routes} has waited since ${time} for Cluster bad, which n has rejected.`,
    );
    expect(explanation.streams[0]?.cause).toEqual({
      kind: "held-back",
      phase: "rejected",
      for: "bad",
      forType: types.cluster,
      since: 0,
    });
  });

  it(`keeps what was removed until the types that refer to it have let go (${variant}) [S-ORD-3]`, async () => {
    const { explain, version, cache, call, turn } = waiting(["*"]);
    for (let answers = 0; answers < 2; answers++) {
      call.ack(call.next());
      turn();
    }
    const cluster = version("bad");
    cache.transaction((writer) => {
      writer.remove(types.cluster, "bad");
      writer.put({ typeUrl: types.route, name: "r", value: routeTo("other") });
    });
    turn();
    expect((await explain("bad")).text).toBe(
      `n still has version ${cluster} of bad, since ${time} or earlier: its removal waits until n has accepted RouteConfiguration without it.`,
    );
    call.ack(call.next());
    turn();
    expect((await explain("bad")).streams[0]).toMatchObject({ cause: { kind: "in-flight" } });
    call.ack(call.next());
    turn();
    expect((await explain("bad")).text).toBe("n does not have bad: it does not exist.");
  });

  it(`keeps a removed name while a client of SotW subscribes to it (${variant}) [S-ORD-3]`, async () => {
    const { explain, cache, call, turn } = waiting();
    for (let answers = 0; answers < 2; answers++) {
      call.ack(call.next());
      turn();
    }
    cache.transaction((writer) => {
      writer.remove(types.cluster, "bad");
      writer.put({ typeUrl: types.route, name: "r", value: routeTo("other") });
    });
    turn();
    call.ack(call.next());
    turn();
    expect((await explain("bad")).streams[0]).toMatchObject(
      variant === "delta/ads"
        ? { held: { what: "earlier" }, cause: { kind: "in-flight" } }
        : {
            held: { what: "earlier" },
            cause: { kind: "removal-waits", behind: [], whileSubscribed: true },
          },
    );
  });

  it(`names the subscription that covers a name: a glob, an alias, * (${variant}) [S-WILD-1]`, async () => {
    const world = worldWith(["web"]);
    const name = "xdstp://a.example/envoy.config.cluster.v3.Cluster/x/1";
    const glob = "xdstp://a.example/envoy.config.cluster.v3.Cluster/x/*";
    world.put(name);
    const call = world.open(variant);
    synced(world, call, types.cluster, [glob, "*"]);
    expect((await world.explain(name)).streams[0]).toMatchObject({
      subscription: { by: "glob", subscribed: glob },
      held: { what: "newest" },
    });
    expect((await world.explain("web")).streams[0]).toMatchObject({
      subscription: { by: "wildcard", subscribed: "*" },
      held: { what: "newest" },
    });
  });

  it(`says why a glob is empty, of each name in it, as long as that is so (${variant}) [S-ERR-5]`, async () => {
    const world = worldWith([]);
    const glob = "xdstp://a.example/envoy.config.cluster.v3.Cluster/x/*";
    const name = glob.replace("*", "1");
    world.put(name);
    const call = world.open(variant);
    synced(world, call, types.cluster, [glob]);
    const error = new XdsError("PERMISSION_DENIED", "x is for others");
    world.cache.commit({
      remove: [
        { typeUrl: types.cluster, name },
        { typeUrl: types.cluster, name: glob, error },
      ],
    });
    world.turn();
    call.ack(call.next());
    world.put("later");
    for (const one of [name, glob.replace("*", "2")])
      expect((await world.explain(one)).text).toBe(
        `n does not have ${one}: it does not exist. The source reports: x is for others.`,
      );
    world.put(name);
    world.turn();
    call.ack(call.next());
    expect((await world.explain(glob.replace("*", "2"))).text).not.toContain("x is for others");
  });

  it(`does not know what is not settled (${variant}) [S-STREAM-9]`, async () => {
    const source = sourceWithTopic(readyCache(), "web", (real) =>
      topicWith({ interest: real.interest, settled: false }),
    );
    const { open, turn, server } = serve(source);
    open(variant).ask(types.cluster, ["web"]);
    turn();
    const explanation = await server.explain({ node: "n", typeUrl: types.cluster, name: "web" });
    expect(explanation.text).toBe("n does not have web: it is not known yet whether it exists.");
    expect(explanation.streams[0]).toMatchObject({ source: { state: "unknown" } });
  });
});

it("names the rule that hides a name, and nothing of the name itself [S-LIM-8]", async () => {
  const policy = createPolicy({
    key: "shop",
    allows: (_, name) => name === "shop",
    rule: () => "the rule for shop (policy.yaml:2)",
  });
  const world = worldWith(["shop", "secret"], { authorize: () => policy });
  const call = world.open("delta/ads");
  call.ask(types.cluster, ["shop", "secret"]);
  await Promise.resolve();
  await new Promise(setImmediate);
  world.turn();
  call.ack(call.next());
  world.turn();
  expect((await world.explain("secret")).text).toBe(
    "n does not have secret: the rule for shop (policy.yaml:2) does not allow it.",
  );
  expect((await world.explain("secret")).streams[0]).not.toHaveProperty("source");
  expect((await world.explain("secret")).names).toEqual([]);
  expect((await world.explain("shop")).streams[0]?.held.what).toBe("newest");
});

it("shows a caller with another source nothing of the source of the server [S-LIM-8]", async () => {
  const own = readyCache();
  own.put({ typeUrl: types.cluster, name: "own", value: payload("own") });
  const world = worldWith(["web"], { sourceFor: () => own });
  const feature = "xdstp.status.explain";
  const ask = async (name: string): Promise<JsonObject> => {
    const { config } = await world.server.clientStatus(
      {
        node: {
          clientFeatures: [feature],
          metadata: { [feature]: { node: "n", type_url: types.cluster, name } },
        },
      },
      { peer: { address: "192.0.2.9:1" } },
    );
    const { value } = config[0]?.genericXdsConfigs[0]?.xdsConfig ?? {};
    return toJson(StructSchema, fromBinary(StructSchema, value ?? new Uint8Array()));
  };
  expect(await ask("web")).toMatchObject({ source: { state: "missing" }, names: ["own"] });
  expect(await ask("own")).toMatchObject({ source: { state: "present" }, names: [] });
});

it("shows a restricted caller nothing of a hidden resource by its alias [S-LIM-8]", async () => {
  const policy = createPolicy({
    key: "shop",
    allows: (_, name) => name !== "secret",
    rule: () => "the rule for shop (policy.yaml:2)",
  });
  const world = worldWith([], { authorize: () => policy });
  world.cache.put({
    typeUrl: types.cluster,
    name: "secret",
    value: payload("secret"),
    aliases: ["alias"],
  });
  const call = world.open("delta/ads");
  call.ask(types.cluster, ["alias"]);
  await Promise.resolve();
  await new Promise(setImmediate);
  world.turn();
  call.ack(call.next());
  world.turn();
  const feature = "xdstp.status.explain";
  const ask = async (node: string): Promise<JsonObject> => {
    const { config } = await world.server.clientStatus(
      {
        node: {
          clientFeatures: [feature],
          metadata: { [feature]: { node, type_url: types.cluster, name: "alias" } },
        },
      },
      { peer: { address: "192.0.2.9:1" } },
    );
    const { value } = config[0]?.genericXdsConfigs[0]?.xdsConfig ?? {};
    return toJson(StructSchema, fromBinary(StructSchema, value ?? new Uint8Array()));
  };
  expect(await ask("n")).toMatchObject({
    text: "n does not have alias: it does not exist.",
    streams: [{ source: { state: "missing" } }],
  });
  expect(await ask("other")).toMatchObject({ source: { state: "missing" } });
  expect((await world.explain("alias")).text).toBe(
    "n does not have alias: the rule for shop (policy.yaml:2) does not allow it.",
  );
});

it("says that a node is not connected, which are, and what the source has", async () => {
  const world = worldWith(["web"]);
  world.open("delta/ads", { id: "envoy-1" }).ask(types.cluster, ["web"]);
  world.open("delta/ads", { id: "a-client-with-a-long-id" }).ask(types.cluster, ["web"]);
  const explanation = await world.server.explain({
    node: "envoy-2",
    typeUrl: types.cluster,
    name: "web",
  });
  expect(explanation).toMatchObject({
    text: `envoy-2 is not connected; 2 nodes are. The source has web in version ${world.version("web")}.`,
    streams: [],
    connected: 2,
    nodes: ["envoy-1", "a-client-with-a-long-id"],
  });
});

it("explains each stream of a node id", async () => {
  const world = worldWith(["web"]);
  synced(world, world.open("delta/ads"), types.cluster, ["web"]);
  synced(world, world.open("sotw/ads"), types.cluster, ["other"]);
  expect((await world.explain("web")).text).toBe(
    `2 streams have the node id n. From 192.0.2.1:5: n has web in version ${world.version("web")}, since ${time} or earlier. From 192.0.2.1:5: n does not have web: its one subscription to Cluster does not cover it. The source has web in version ${world.version("web")}.`,
  );
});

it("explains what a type without its own stream has: nothing", async () => {
  const world = worldWith(["web"]);
  synced(world, world.open("delta/per-type"), types.cluster, ["web"]);
  expect((await world.explain("r", types.route)).text).toBe(
    "n does not have r: it has not subscribed to any RouteConfiguration. The source does not have RouteConfiguration r.",
  );
});

it("names the place that a resource came from, and why its newest state is not used", async () => {
  const world = worldWith(["web"], {
    originOf: (typeUrl, name) =>
      typeUrl === types.cluster && name === "web"
        ? { place: "config/web.yaml:1", problem: "config/web.yaml:3:1: is not YAML" }
        : undefined,
  });
  synced(world, world.open("delta/ads"), types.cluster, ["web"]);
  const version = world.version("web");
  expect((await world.explain("web")).text).toBe(
    `n has web in version ${version}, since ${time} or earlier. Version ${version} is from config/web.yaml:1. The newest state of config/web.yaml:1 is not used: config/web.yaml:3:1: is not YAML.`,
  );
});

it("does not send what is larger than a response may be [S-SIZE-4]", async () => {
  const world = worldWith([], { limits: { stream: { responseBytes: 2_000 } } });
  const call = world.open("delta/ads");
  world.put("web", "x".repeat(5_000));
  call.ask(types.cluster, ["web"]);
  world.turn();
  expect((await world.explain("web")).streams[0]).toMatchObject({
    held: { what: "none" },
    cause: { kind: "unsendable", notSent: { reason: "too-large", limit: "responseBytes" } },
  });
});

it("is sent as client status to a caller that requests it, and to that caller alone [B-CSDS-1]", async () => {
  const world = worldWith(["web"]);
  synced(world, world.open("delta/ads"), types.cluster, ["web"]);
  const feature = "xdstp.status.explain";
  const { config } = await world.server.clientStatus({
    node: {
      clientFeatures: [feature],
      metadata: { [feature]: { node: "n", type_url: types.cluster, name: "web" } },
    },
  });
  expect(config).toMatchObject([
    {
      clientScope: feature,
      genericXdsConfigs: [
        { typeUrl: types.cluster, name: "web", configStatus: ConfigStatus.SYNCED },
      ],
    },
  ]);
  const plain = await world.server.clientStatus();
  expect(plain.config.map(({ clientScope }) => clientScope)).toEqual(["192.0.2.1:5"]);
});

it.each([
  [{}, "explain: give the id of a node"],
  [{ node: "n" }, "explain: give a type URL"],
  [{ node: "n", type_url: types.cluster }, 'explain: "" is not the name of one resource'],
  [
    { node: "n", type_url: types.cluster, name: "*" },
    'explain: "*" is not the name of one resource',
  ],
  [{ node: 1, type_url: [], name: {} }, "explain: give the id of a node"],
])("rejects the question %j with its reason", async (question, message) => {
  const feature = "xdstp.status.explain";
  const { server } = worldWith([]);
  await expect(
    server.clientStatus({ node: { clientFeatures: [feature], metadata: { [feature]: question } } }),
  ).rejects.toMatchObject({ code: "INVALID_ARGUMENT", text: message });
});

it("reads the subscriptions of the one node, not those of 10,000", async () => {
  const read = new Set<string>();
  const streams = Array.from({ length: 10_000 }, (_, index) => {
    const id = `envoy-${index}`;
    return new Proxy({ info: { node: { id }, peer: "" } } as ServerStream, {
      get(stream, key) {
        if (key !== "info") read.add(id);
        return Reflect.get(stream, key) as unknown;
      },
    });
  });
  const explain = createExplain({
    streams: () => streams,
    source: readyCache(),
    book: { of: () => undefined } as unknown as AccessBook,
    clock: systemClock,
    originOf: undefined,
  });
  // These streams have no subscriptions, so the explanation fails at the first one that it reads.
  await explain({ node: "envoy-7", typeUrl: types.cluster, name: "web" }, undefined).catch(
    () => undefined,
  );
  expect([...read]).toEqual(["envoy-7"]);
});
