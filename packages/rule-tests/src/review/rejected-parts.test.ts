import type { ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createWorld, type World } from "../harness/create-world.ts";
import { payloadOf, textIn } from "../harness/payload.ts";

// Found by the simulation.

const CLUSTERS = "type.googleapis.com/test.Cluster";
const ROUTES = "type.googleapis.com/test.Route";
const types = (fullStateInSotw: boolean): readonly ResourceType[] => [
  { typeUrl: CLUSTERS, fullStateInSotw, refersTo: [ROUTES] },
  {
    typeUrl: ROUTES,
    fullStateInSotw,
    follows: [{ typeUrl: CLUSTERS, when: "accepted" }],
    references: (payload) => [{ typeUrl: CLUSTERS, name: textIn(payload) }],
  },
];

function commit(
  world: World,
  clusters: Readonly<Record<string, string>>,
  routes: Readonly<Record<string, string>> = {},
): void {
  world.cache.transaction(({ put }) => {
    for (const [typeUrl, all] of [
      [CLUSTERS, clusters],
      [ROUTES, routes],
    ] as const) {
      for (const [name, text] of Object.entries(all))
        put({ typeUrl, name, value: payloadOf(name, text) });
    }
  });
}

function acceptAll<Response>(
  world: World,
  client: { rest(): readonly Response[]; ack(response: Response): void },
): void {
  for (let left = true; left;) {
    world.run();
    const responses = client.rest();
    for (const response of responses) client.ack(response);
    left = responses.length > 0;
  }
}

describe("a response in parts (delta/ads)", () => {
  it("that is rejected in its first part comes again whole, though what has changed waited for the last answer; then what refers to it goes [S-ACK-8] [S-ORD-4]", () => {
    const world = createWorld({
      variant: "delta/ads",
      types: types(true),
      limits: { responseBytes: 400 },
    });
    const { client } = world.openDelta(CLUSTERS);
    client.send({ typeUrl: CLUSTERS, resourceNamesSubscribe: ["a", "b", "c"] });
    client.send({ typeUrl: ROUTES, resourceNamesSubscribe: ["*"] });
    acceptAll(world, client);
    const pad = "x".repeat(60);
    commit(world, { a: pad, b: `bad${pad}`, c: pad }, { r: "a" });
    world.run();
    const parts = client.rest();
    expect(parts.map(({ resources }) => resources.map(({ name }) => name))).toEqual([
      ["a", "b"],
      ["c"],
    ]);
    commit(world, { b: "good" });
    world.run();
    const [first, last] = parts;
    if (first === undefined || last === undefined) throw new Error("two parts were expected");
    client.nack(first, "b is bad");
    world.run();
    client.ack(last);
    world.run();
    const again = client.rest();
    expect(again.flatMap(({ resources }) => resources.map(({ name }) => name)).sort()).toEqual([
      "a",
      "b",
      "c",
    ]);
    for (const response of again) client.ack(response);
    world.run();
    expect(
      client.rest().map(({ typeUrl, resources }) => [typeUrl, resources.map(({ name }) => name)]),
    ).toEqual([[ROUTES, ["r"]]]);
  });
});

describe("a full state that was rejected (sotw/ads)", () => {
  it("does not come again when what waits for it is looked at anew, and is held back again [S-ACK-8] [S-ORD-4]", () => {
    const world = createWorld({ variant: "sotw/ads", types: types(true) });
    const { client } = world.openSotw(CLUSTERS);
    client.send({ typeUrl: CLUSTERS, resourceNames: ["n"] });
    client.send({ typeUrl: ROUTES, resourceNames: ["*"] });
    commit(world, {}, { good: "n" });
    acceptAll(world, client);
    const take = (): readonly string[] => {
      world.run();
      return client.rest().map((response) => {
        client.nack(response, "bad");
        return response.typeUrl;
      });
    };
    commit(world, { n: "bad 1" }, { bad: "m" });
    expect([...take(), ...take(), ...take()]).toEqual([CLUSTERS, ROUTES]);
    commit(world, { n: "bad 2" });
    expect([...take(), ...take(), ...take()]).toEqual([CLUSTERS]);
  });
});

describe("a cluster that is gone and stays while its name is asked for (sotw/ads)", () => {
  it("goes when the name leaves the list, though a wildcard covers it [S-ORD-3] [S-FULL-1]", () => {
    const world = createWorld({ variant: "sotw/ads", types: types(true) });
    const { client } = world.openSotw(CLUSTERS);
    commit(world, { n: "1", o: "1" }, { r: "o" });
    client.send({ typeUrl: CLUSTERS, resourceNames: ["n", "*"] });
    client.send({ typeUrl: ROUTES, resourceNames: ["*"] });
    acceptAll(world, client);
    world.cache.remove(CLUSTERS, "n");
    world.run();
    const last = world.status()[0]?.types.find(({ typeUrl }) => typeUrl === CLUSTERS);
    client.send({
      typeUrl: CLUSTERS,
      versionInfo: last?.versionAccepted ?? "",
      responseNonce: last?.nonceSent ?? "",
      resourceNames: ["*"],
    });
    world.run();
    expect(client.next().resources).toHaveLength(1);
  });
});

describe("a name that was rejected (delta/ads)", () => {
  const FLAGS = "type.googleapis.com/test.Flag";

  it("is not said again for a removal that has to wait for those who refer to it: that goes alone, when they have let go [S-ACK-8] [S-ORD-3]", () => {
    const world = createWorld({ variant: "delta/ads", types: types(true) });
    const { client } = world.openDelta(CLUSTERS);
    client.send({ typeUrl: CLUSTERS, resourceNamesSubscribe: ["a", "b"] });
    client.send({ typeUrl: ROUTES, resourceNamesSubscribe: ["*"] });
    commit(world, { a: "1", b: "1" }, { r: "b" });
    acceptAll(world, client);
    commit(world, { a: "bad" });
    world.run();
    for (const response of client.rest()) client.nack(response, "a is bad");
    commit(world, {}, { r: "" });
    world.run();
    const [route] = client.rest();
    if (route === undefined) throw new Error("the route was expected");
    world.remove(CLUSTERS, "b");
    world.run();
    expect(client.rest()).toEqual([]);
    client.ack(route);
    world.run();
    expect(
      client.rest().map(({ resources, removedResources }) => [resources, removedResources]),
    ).toEqual([[[], ["b"]]]);
  });

  it("is not said again when the name of an alias that was given up is put again, which is not an update to a client that asks by the alias [S-ACK-8] [S-ALIAS-1]", () => {
    const world = createWorld({ variant: "delta/ads", types: [{ typeUrl: FLAGS }] });
    const { client } = world.openDelta(FLAGS);
    client.send({ typeUrl: FLAGS, resourceNamesSubscribe: ["also-n", "a"] });
    world.put(FLAGS, "n", "1", { aliases: ["also-n"] });
    acceptAll(world, client);
    world.remove(FLAGS, "n");
    acceptAll(world, client);
    world.put(FLAGS, "a", "bad");
    world.run();
    for (const response of client.rest()) client.nack(response, "a is bad");
    world.put(FLAGS, "n", "2");
    world.run();
    expect(client.rest()).toEqual([]);
    world.put(FLAGS, "a", "good");
    world.run();
    expect(client.rest().map(({ resources }) => resources.map(({ name }) => name))).toEqual([
      ["a"],
    ]);
  });
});

describe("a name that was rejected (sotw/ads)", () => {
  it("is not said again when another goes, which cannot be said of a type without full state [S-ACK-8] [S-FULL-2]", () => {
    const world = createWorld({ variant: "sotw/ads", types: types(false) });
    const { client } = world.openSotw(CLUSTERS);
    client.send({ typeUrl: CLUSTERS, resourceNames: ["a", "b"] });
    commit(world, { a: "1", b: "1" });
    acceptAll(world, client);
    commit(world, { a: "bad" });
    world.run();
    for (const response of client.rest()) client.nack(response, "a is bad");
    world.remove(CLUSTERS, "b");
    world.run();
    expect(client.rest()).toEqual([]);
    commit(world, { a: "good" });
    world.run();
    expect(client.rest().map(({ resources }) => resources.length)).toEqual([1]);
  });
});

describe("a name that was rejected, and asked for again (sotw/ads)", () => {
  it("is not said a third time when what was rejected with it at first goes [S-ACK-8] [S-FULL-2]", () => {
    const world = createWorld({ variant: "sotw/ads", types: types(false) });
    const { client } = world.openSotw(CLUSTERS);
    const reject = (): string => {
      world.run();
      const [response, ...more] = client.rest();
      if (response === undefined || more.length > 0) throw new Error("one response was expected");
      client.nack(response, "a is bad");
      return response.nonce;
    };
    client.send({ typeUrl: CLUSTERS });
    acceptAll(world, client);
    commit(world, { a: "bad", b: "1" });
    client.send({ typeUrl: CLUSTERS, resourceNames: ["*", "a"], responseNonce: reject() });
    reject();
    world.remove(CLUSTERS, "b");
    world.run();
    expect(client.rest()).toEqual([]);
  });
});

describe("a response in parts (sotw/ads)", () => {
  it("is sent anew to a client that was cut off after a part of it and comes back with the version of that, and not to one that has all parts [S-SIZE-3] [S-RECON-7]", () => {
    const world = createWorld({
      variant: "sotw/ads",
      types: types(false),
      limits: { responseBytes: 400 },
    });
    commit(world, { a: "x".repeat(100), b: "x".repeat(100), c: "x".repeat(100) });
    const comeWith = (versionInfo: string): readonly { readonly versionInfo: string }[] => {
      const { client } = world.openSotw(CLUSTERS);
      client.send({ typeUrl: CLUSTERS, versionInfo });
      world.run();
      return client.rest();
    };
    const [first, last, ...more] = comeWith("");
    if (first === undefined || last === undefined) throw new Error("two parts were expected");
    expect(more).toEqual([]);
    expect(comeWith(first.versionInfo)).toHaveLength(2);
    expect(comeWith(last.versionInfo)).toEqual([]);
  });
});
