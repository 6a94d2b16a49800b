import { expect } from "vitest";
import type { Answer } from "../harness/answer.ts";
import type { World } from "../harness/create-world.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { payloadOf } from "../harness/payload.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, everyVariant, isAds, isDelta, sotwVariants } from "../harness/variant.ts";
import { nameKey } from "@xdstp/uri";

const wraps = { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] };
/** Full state only: elsewhere SotW serves no globs (C-GLOB-10). */
const overlapping = [
  "xdstp://a/test.Full/ns/%31",
  "xdstp://a/test.Full/ns/1",
  "xdstp://a/test.Full/ns/*",
  "*",
  "xdstp://a/test.Full/ns/2",
];

function expectEachOnce(answer: Answer): void {
  const keys = [...answer.names, ...answer.removed].map(nameKey);
  expect(keys).toHaveLength(new Set(keys).size);
}

const text = (bytes: number): string => "x".repeat(bytes);
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Encoded responses not read yet. */
function takeAll(world: World, ...names: readonly string[]): readonly Uint8Array[] {
  const { stream, client } = isDelta(world.variant) ? world.openDelta(PART) : world.openSotw(PART);
  client.send({
    typeUrl: PART,
    ...(isDelta(world.variant)
      ? { resourceNamesSubscribe: [...names] }
      : { resourceNames: [...names] }),
  });
  world.run();
  const messages: Uint8Array[] = [];
  for (let bytes = stream.take(); bytes !== undefined; bytes = stream.take()) messages.push(bytes);
  return messages;
}

runCases("duplicates and size", [
  {
    rules: ["S-DUP-1"],
    title:
      "sends a name once that is covered by a name, another spelling of it, a glob and the wildcard",
    run(world) {
      const client = world.connect({ node: wraps }).of(FULL);
      for (const id of ["1", "2", "3"]) world.put(FULL, `xdstp://a/test.Full/ns/${id}`, "1");
      client.subscribe(...overlapping);
      world.run();
      const first = client.next();
      expectEachOnce(first);
      expect(first.names.map(nameKey).toSorted()).toEqual(
        ["1", "2", "3"].map((id) => `xdstp://a/test.Full/ns/${id}`),
      );
      client.ack(first);
      for (const id of ["1", "2", "3"]) world.put(FULL, `xdstp://a/test.Full/ns/${id}`, "2");
      world.run();
      const second = client.next();
      expectEachOnce(second);
      expect(second.names).toHaveLength(3);
      client.ack(second);
      world.remove(FULL, "xdstp://a/test.Full/ns/1");
      world.run();
      const third = client.next();
      expectEachOnce(third);
      expect(
        isDelta(world.variant) ? third.removed.map(nameKey) : third.names.map(nameKey),
      ).toEqual(
        isDelta(world.variant)
          ? ["xdstp://a/test.Full/ns/1"]
          : ["xdstp://a/test.Full/ns/2", "xdstp://a/test.Full/ns/3"],
      );
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-DUP-1"],
    title:
      "does not say that one name is there and is not, whatever happens to it before it is sent",
    variants: deltaVariants,
    run(world) {
      const name = "xdstp://a/test.Full/ns/1";
      world.put(FULL, name, "1");
      const client = world.connect().of(FULL);
      client.subscribe(...overlapping);
      world.run();
      const first = client.next();
      world.remove(FULL, name);
      client.unsubscribe("xdstp://a/test.Full/ns/%31");
      world.put(FULL, name, "2");
      client.subscribe(name, "missing");
      client.ack(first);
      world.run();
      const answer = client.next();
      expectEachOnce(answer);
      expect(answer).toMatchObject({ resources: [{ text: "2" }], removed: ["missing"] });
    },
  },
  {
    rules: ["S-DUP-1"],
    title: "sends a name once that is asked for again together with its wildcard",
    run(world) {
      for (const name of ["a", "b"]) world.put(FULL, name);
      const client = world.connect().of(FULL);
      client.subscribe("a", "*");
      world.run();
      const first = client.next();
      expectEachOnce(first);
      client.ack(first);
      world.put(FULL, "a", "2");
      client.subscribe("b");
      world.run();
      const second = client.next();
      expectEachOnce(second);
      expect(second.names.toSorted()).toEqual(["a", "b"]);
    },
  },
  {
    rules: ["S-SIZE-1"],
    title: "keeps each message below 4 MiB by default: 10 MiB of resources all arrive",
    run(world) {
      const names = Array.from({ length: 40 }, (_, n) => `r${n}`);
      for (const name of names) world.put(PART, name, text(256 << 10));
      const messages = takeAll(world, ...names);
      expect(sum(messages.map(({ length }) => length))).toBeGreaterThan(10 << 20);
      for (const { length } of messages) expect(length).toBeLessThan(4 << 20);
      expect(messages.length).toBeLessThanOrEqual(4);
    },
  },
  {
    rules: ["S-SIZE-1"],
    title: "keeps each message below the limit also where it is filled to the brim",
    world: { limits: { responseBytes: 1_000 } },
    run(world) {
      const names = Array.from({ length: 300 }, (_, n) => `r${n}`);
      for (const [n, name] of names.entries()) world.put(PART, name, text(n % 29));
      const sizes = takeAll(world, ...names).map(({ length }) => length);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000);
      expect(Math.max(...sizes)).toBeGreaterThan(900);
    },
  },
  {
    rules: isSplitRules("delta"),
    title:
      "splits a larger response into parts that are whole, each under its own nonce; the last one's answer accepts all",
    variants: deltaVariants,
    world: { limits: { responseBytes: 1_000 } },
    run: threeParts,
  },
  {
    rules: isSplitRules("sotw"),
    title:
      "splits a larger response into parts that are whole, each under its own nonce; the last one's answer accepts all",
    variants: sotwVariants,
    world: { limits: { responseBytes: 1_000 } },
    run: threeParts,
  },
  ...everyVariant.map((variant) => ({
    rules: isSplitRules(variant),
    title: "shows the part that was rejected, and sends all again with the correction",
    variants: [variant],
    world: { limits: { responseBytes: 1_000 } },
    run(world: World): void {
      const names = ["a", "b", "c"];
      for (const name of names) world.put(PART, name, text(700));
      const client = world.connect().of(PART);
      client.subscribe(...names);
      world.run();
      const [first, second, third] = client.rest();
      if (first === undefined || second === undefined || third === undefined)
        throw new Error("three parts were expected");
      client.ack(first);
      client.nack(second, "b is bad");
      client.ack(third);
      expect(world.status()[0]?.types[0]).toMatchObject({
        state: "NACKED",
        nacks: 1,
        versionAccepted: "",
        lastError: { message: "b is bad" },
      });
      expect(world.events.filter(({ kind }) => kind === "nack")).toMatchObject([
        { nonce: second.nonce },
      ]);
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(PART, "b", "good");
      world.run();
      expect(
        client
          .rest()
          .flatMap((answer) => answer.names)
          .toSorted(),
      ).toEqual(names);
    },
  })),
  {
    rules: ["S-SIZE-3"],
    title: "sends a full state in one response, beyond the limit of others",
    variants: sotwVariants,
    world: { limits: { responseBytes: 1_000, fullStateBytes: 10_000 } },
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(FULL, name, text(2_000));
      const client = world.connect().of(FULL);
      client.subscribe("*");
      world.run();
      expect(client.rest().map(({ names }) => names)).toEqual([["a", "b", "c"]]);
    },
  },
  {
    rules: ["S-SIZE-3"],
    title:
      "sends nothing of a full state that is too large, says so, and goes on once it fits again",
    variants: sotwVariants,
    world: { limits: { fullStateBytes: 5_000 } },
    run(world) {
      for (const name of ["a", "b"]) world.put(FULL, name, text(2_000));
      const client = world.connect().of(FULL);
      client.subscribe("*");
      world.run();
      client.ack(client.next());
      world.put(FULL, "c", text(2_000));
      world.run();
      expect(client.rest()).toEqual([]);
      const told = world.events.filter((event) => event.kind === "not-sent");
      expect(told).toHaveLength(1);
      expect(told[0]?.resources).toMatchObject(
        ["a", "b", "c"].map((name) => ({ name, reason: "too-large", limit: "fullStateBytes" })),
      );
      world.remove(FULL, "a");
      world.run();
      expect(client.next().names.toSorted()).toEqual(["b", "c"]);
    },
  },
  {
    rules: ["S-SIZE-3"],
    title: "sends nothing of a first full state that is too large, not even an empty response",
    variants: sotwVariants,
    world: { limits: { fullStateBytes: 5_000 } },
    run(world) {
      for (const name of ["a", "b", "c"]) world.put(FULL, name, text(2_000));
      const client = world.connect().of(FULL);
      client.subscribe();
      world.run();
      expect(client.rest()).toEqual([]);
      expect(world.events.filter(({ kind }) => kind === "not-sent")).toHaveLength(1);
      world.remove(FULL, "b");
      world.run();
      expect(client.next().names).toEqual(["a", "c"]);
    },
  },
  {
    rules: ["S-SIZE-4"],
    title: "leaves out one resource above the limit, shows it, and sends the rest",
    world: { limits: { responseBytes: 1_000 } },
    run(world) {
      for (const name of ["a", "c"]) world.put(PART, name, "small");
      world.put(PART, "giant", text(2_000));
      const client = world.connect().of(PART);
      client.subscribe("a", "giant", "c");
      world.run();
      const answer = client.next();
      expect(answer.names).toEqual(["a", "c"]);
      expect(world.events.filter((event) => event.kind === "not-sent")).toMatchObject([
        { typeUrl: PART, resources: [{ name: "giant", reason: "too-large" }] },
      ]);
      client.ack(answer);
      world.put(PART, "giant", "small now");
      world.run();
      expect(client.next().resources).toMatchObject([{ name: "giant", text: "small now" }]);
    },
  },
  {
    rules: ["S-SIZE-4", "S-ACK-11"],
    title: "sends no response of its own for a resource above the limit, and the next change",
    world: { limits: { responseBytes: 1_000 } },
    run(world) {
      for (const name of ["a", "giant"]) world.put(PART, name, "small");
      const client = world.connect().of(PART);
      client.subscribe("a", "giant");
      world.run();
      client.ack(client.next());
      world.put(PART, "giant", text(2_000));
      world.run();
      expect(client.rest()).toEqual([]);
      expect(world.events.filter(({ kind }) => kind === "not-sent")).toHaveLength(1);
      world.put(PART, "a", "2");
      world.run();
      expect(client.next().resources).toMatchObject([{ name: "a", text: "2" }]);
    },
  },
  {
    rules: ["S-SIZE-4", "S-FULL-5"],
    title: "sends no empty first response where all that was asked for is above the limit",
    variants: sotwVariants,
    world: { limits: { responseBytes: 1_000 } },
    run(world) {
      world.put(OTHER_PART, "giant", text(2_000));
      const client = world.connect().of(OTHER_PART);
      client.subscribe("giant");
      world.run();
      expect(client.rest()).toEqual([]);
      expect(world.events.filter(({ kind }) => kind === "not-sent")).toHaveLength(1);
    },
  },
  {
    rules: ["S-SIZE-4"],
    title: "leaves one giant out of a full state as well",
    variants: sotwVariants,
    world: { limits: { fullStateBytes: 1_000 } },
    run(world) {
      world.put(FULL, "a", "small");
      world.put(FULL, "giant", text(2_000));
      const client = world.connect().of(FULL);
      client.subscribe("*");
      world.run();
      expect(client.next().names).toEqual(["a"]);
      expect(world.events.filter((event) => event.kind === "not-sent")).toMatchObject([
        { resources: [{ name: "giant", reason: "too-large" }] },
      ]);
    },
  },
  {
    rules: ["S-SIZE-5"],
    title: "admits a large message while it is the first of its type, and none later",
    run(world) {
      world.put(PART, "a", "1");
      const peer = world.connect();
      const { server } = peer.streamOf(PART);
      const head = (typeUrl: string): Uint8Array =>
        Buffer.concat([
          Buffer.from([isDelta(world.variant) ? 0x12 : 0x22, typeUrl.length]),
          Buffer.from(typeUrl),
        ]);
      expect(server.admits?.(10 << 20, head(PART))).toBe(true);
      if (isAds(world.variant))
        expect(server.admits?.(10 << 20, head(PART).subarray(0, 5))).toBeUndefined();
      peer.of(PART).subscribe("a");
      expect(server.admits?.(10 << 20, head(PART))).toBe(false);
      if (isAds(world.variant)) expect(server.admits?.(10 << 20, head(FULL))).toBe(true);
    },
  },
  {
    rules: ["S-SIZE-5", "S-RECON-4"],
    title: "reads a map of 10,000 versions in the first message: only what differs is sent",
    variants: deltaVariants,
    run(world) {
      const names = Array.from({ length: 10_000 }, (_, n) => `r${n}`);
      world.cache.transaction(({ put }) => {
        for (const name of names)
          put({ typeUrl: PART, name, value: payloadOf(name), version: "1" });
      });
      world.put(PART, "r77", "newer", { version: "2" });
      world.remove(PART, "r78");
      const { client } = world.openDelta(PART);
      client.send({
        typeUrl: PART,
        resourceNamesSubscribe: ["*"],
        initialResourceVersions: Object.fromEntries(names.map((name) => [name, "1"])),
      });
      world.run();
      const [only, ...more] = client.rest();
      expect(more).toEqual([]);
      expect(only?.resources.map(({ name, version }) => [name, version])).toEqual([["r77", "2"]]);
      expect(only?.removedResources).toEqual(["r78"]);
    },
  },
]);

/** In delta the rule is S-SIZE-2, in SotW S-SIZE-3 says the same of types without full state. */
function isSplitRules(variant: string): readonly string[] {
  return variant.startsWith("delta") ? ["S-SIZE-2"] : ["S-SIZE-3"];
}

function threeParts(world: World): void {
  const names = ["a", "b", "c"];
  for (const name of names) world.put(PART, name, text(700));
  const client = world.connect().of(PART);
  client.subscribe(...names);
  world.run();
  const parts = client.rest();
  expect(parts.map((part) => part.names)).toEqual([["a"], ["b"], ["c"]]);
  const nonces = parts.map(({ nonce }) => nonce);
  expect(new Set(nonces).size).toBe(3);
  for (const { typeUrl } of parts) expect(typeUrl).toBe(PART);
  // A version of SotW is what a client comes back with: none but the last part has that of the whole.
  expect(new Set(parts.map(({ version }) => version)).size).toBe(isDelta(world.variant) ? 1 : 3);
  const state = (): string | undefined => world.status()[0]?.types[0]?.state;
  for (const part of parts) {
    expect(state()).toBe("STALE");
    client.ack(part);
  }
  expect(world.status()[0]?.types[0]).toMatchObject({ state: "SYNCED", nonceAccepted: nonces[2] });
  world.put(PART, "b", "2");
  world.run();
  expect(client.rest().map((answer) => answer.names)).toEqual([["b"]]);
}
