import { fromBinary } from "@bufbuild/protobuf";
import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import { lengthDelimited } from "@xdstp/core/wire";
import { DeltaDiscoveryResponseSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";
import { expect } from "vitest";
import type { World } from "../harness/create-world.ts";
import { FULL, OTHER_FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, isAds, isDelta, sotwVariants } from "../harness/variant.ts";

const states = (world: World): readonly string[] =>
  world
    .status()
    .flatMap(({ types }) => types)
    .map(({ state }) => state);

/** A server stream whose client answers each response within the very call that hands it over. */
function openSynchronous(
  world: World,
  typeUrl: string,
): { readonly nonces: readonly string[]; readonly request: (bytes: Uint8Array) => void } {
  const nonces: string[] = [];
  const handlers: ByteStreamHandler[] = [];
  const delta = isDelta(world.variant);
  const out: ByteStream = {
    send({ bytes }) {
      const { nonce } = delta
        ? fromBinary(DeltaDiscoveryResponseSchema, bytes)
        : fromBinary(DiscoveryResponseSchema, bytes);
      nonces.push(nonce);
      handlers[0]?.onMessage(
        delta
          ? ackOf(typeUrl, nonce, 2, 6)
          : Buffer.concat([lengthDelimited(3, "a"), ackOf(typeUrl, nonce, 4, 5)]),
      );
      return true;
    },
    close: () => undefined,
  };
  const call = { peer: "synchronous", ...(isAds(world.variant) ? {} : { typeUrl }) };
  handlers.push((delta ? createDeltaServer : createSotwServer)(world.context).open(call, out));
  return {
    nonces,
    request: (bytes) => {
      handlers[0]?.onMessage(bytes);
    },
  };
}

function ackOf(typeUrl: string, nonce: string, typeField: number, nonceField: number): Uint8Array {
  return Buffer.concat([lengthDelimited(typeField, typeUrl), lengthDelimited(nonceField, nonce)]);
}

runCases("nonces", [
  {
    rules: ["S-NONCE-1"],
    title: "are not empty and not repeated on a stream, over 1,000 responses of four types",
    world: { limits: { changeBurst: 10_000 } },
    run(world) {
      const peer = world.connect();
      const typeUrls = [FULL, PART, OTHER_FULL, OTHER_PART];
      const nonces = new Map<string, string[]>();
      for (const typeUrl of typeUrls) peer.of(typeUrl).subscribe("a");
      for (let n = 0; n < 250; n++) {
        for (const typeUrl of typeUrls) world.put(typeUrl, "a", String(n));
        world.run();
        for (const typeUrl of typeUrls) {
          const answer = peer.of(typeUrl).next();
          const stream = isAds(world.variant) ? "" : typeUrl;
          nonces.set(stream, [...(nonces.get(stream) ?? []), answer.nonce]);
          if (n % 3 === 0) peer.of(typeUrl).nack(answer, "no");
          else peer.of(typeUrl).ack(answer);
        }
      }
      expect([...nonces.values()].flat()).toHaveLength(1_000);
      for (const ofStream of nonces.values()) {
        expect(ofStream).not.toContain("");
        expect(new Set(ofStream).size).toBe(ofStream.length);
      }
    },
  },
  {
    rules: ["S-NONCE-1"],
    title: "are not repeated for clients that come at different times and share responses",
    run(world) {
      world.put(PART, "a", "0");
      const peers = [world.connect(), world.connect(), world.connect()];
      const nonces = peers.map((): string[] => []);
      peers.forEach((peer, n) => {
        peer.of(PART).subscribe("a");
        world.run();
        for (let change = 0; change < 20; change++) {
          world.put(PART, "a", `${n} ${change}`);
          world.run();
          peers.slice(0, n + 1).forEach((other, m) => {
            for (const answer of other.of(PART).rest()) {
              nonces[m]?.push(answer.nonce);
              other.of(PART).ack(answer);
            }
          });
        }
      });
      for (const ofStream of nonces) expect(new Set(ofStream).size).toBe(ofStream.length);
      expect(nonces.map(({ length }) => length > 15)).toEqual([true, true, true]);
    },
  },
  {
    rules: ["S-NONCE-1"],
    title:
      "are not repeated where one unchanged resource is asked for again and again, beside a client that never asks again",
    run(world) {
      world.put(PART, "a", "1");
      world.put(PART, "b", "1");
      const nonces: string[] = [];
      const [again, once] = [world.connect().of(PART), world.connect().of(PART)];
      again.subscribe("b");
      once.subscribe("a");
      world.run();
      again.ack(again.next());
      for (let n = 0; n < 20; n++) {
        again.subscribe("a");
        world.run();
        const answer = again.next();
        nonces.push(answer.nonce);
        again.ack(answer);
        again.unsubscribe("a");
        world.run();
      }
      expect(new Set(nonces).size).toBe(20);
      expect(once.rest()).toHaveLength(1);
    },
  },
  {
    rules: ["B-NONCE-2"],
    title: "mean nothing to another type: its response stays unacknowledged",
    run(world) {
      for (const typeUrl of [FULL, PART]) world.put(typeUrl, "a", "1");
      const peer = world.connect();
      const [full, part] = [peer.of(FULL), peer.of(PART)];
      full.subscribe("a");
      part.subscribe("a");
      world.run();
      const [ofFull, ofPart] = [full.next(), part.next()];
      part.ack(ofFull);
      expect(states(world)).toEqual(["STALE", "STALE"]);
      part.ack(ofPart);
      expect(states(world)).toEqual(["STALE", "SYNCED"]);
    },
  },
  {
    rules: ["B-NONCE-2"],
    title: "mean nothing to another stream, also where both have the same one",
    run(world) {
      world.put(PART, "a", "1");
      const [one, other] = [world.connect().of(PART), world.connect().of(PART)];
      one.subscribe("a");
      other.subscribe("a");
      world.run();
      const [ofOne, ofOther] = [one.next(), other.next()];
      expect(ofOne.nonce).toBe(ofOther.nonce); // they share the response
      one.nack(ofOne, "no");
      expect(states(world)).toEqual(["NACKED", "STALE"]);
      other.ack(ofOther);
      expect(states(world)).toEqual(["NACKED", "SYNCED"]);
    },
  },
  ...["17", "999999999", "of another server"].map((leftover) => ({
    rules: ["S-NONCE-5"],
    title: `of an earlier stream do not keep the first request from its answer: ${leftover}`,
    run(world: World): void {
      world.put(PART, "a", "1");
      const { client } = isDelta(world.variant) ? world.openDelta(PART) : world.openSotw(PART);
      const names = isDelta(world.variant)
        ? { resourceNamesSubscribe: ["a"] }
        : { resourceNames: ["a"], versionInfo: "left over" };
      client.send({ typeUrl: PART, responseNonce: leftover, ...names });
      world.run();
      expect(client.rest().map(({ resources }) => resources.length)).toEqual([1]);
      expect(states(world)).toEqual(["STALE"]);
    },
  })),
  {
    rules: ["S-NONCE-5"],
    title: "of the very server, still in use on another stream, do not either",
    run(world) {
      world.put(PART, "a", "1");
      const earlier = world.connect().of(PART);
      earlier.subscribe("a");
      world.run();
      const { nonce } = earlier.next();
      const { client } = isDelta(world.variant) ? world.openDelta(PART) : world.openSotw(PART);
      client.send({
        typeUrl: PART,
        responseNonce: nonce,
        ...(isDelta(world.variant) ? { resourceNamesSubscribe: ["a"] } : { resourceNames: ["a"] }),
      });
      world.run();
      expect(client.rest()).toHaveLength(1);
    },
  },
  ...[FULL, PART].flatMap((typeUrl) => [
    {
      rules: ["S-NONCE-6"],
      title: `that are not the newest get no response; a name that crossed one comes with the ACK, once: ${typeUrl === FULL ? "a full-state type" : "another type"}`,
      variants: sotwVariants,
      run(world: World): void {
        for (const name of ["foo", "bar"]) world.put(typeUrl, name, "1");
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["foo"] });
        world.run();
        const first = client.next();
        client.ack(first);
        world.put(typeUrl, "foo", "2");
        world.run();
        client.send({
          typeUrl,
          resourceNames: ["foo", "bar"],
          versionInfo: first.versionInfo,
          responseNonce: first.nonce,
        });
        world.run();
        const second = client.next();
        expect(client.rest()).toEqual([]);
        client.send({
          typeUrl,
          resourceNames: ["foo", "bar"],
          versionInfo: second.versionInfo,
          responseNonce: second.nonce,
        });
        world.run();
        const third = client.next();
        expect(third.resources).toHaveLength(typeUrl === FULL ? 2 : 1);
        client.send({
          typeUrl,
          resourceNames: ["foo", "bar"],
          versionInfo: third.versionInfo,
          responseNonce: third.nonce,
        });
        world.run();
        expect(client.rest()).toEqual([]);
      },
    },
    {
      rules: ["S-NONCE-6", "S-SUB-3"],
      title: `that are not the newest have their names kept: one that was dropped meanwhile is new in the list of the ACK: ${typeUrl === FULL ? "a full-state type" : "another type"}`,
      variants: sotwVariants,
      run(world: World): void {
        for (const name of ["foo", "bar"]) world.put(typeUrl, name, "1");
        const { client } = world.openSotw(typeUrl);
        client.send({ typeUrl, resourceNames: ["foo", "bar"] });
        world.run();
        client.send({ typeUrl, resourceNames: ["foo"] });
        world.run();
        const first = client.next(); // the client wants foo only, and takes no bar from it
        client.send({
          typeUrl,
          resourceNames: ["foo", "bar"],
          versionInfo: first.versionInfo,
          responseNonce: first.nonce,
        });
        world.run();
        expect(client.rest().map(({ resources }) => resources.length)).toEqual([
          typeUrl === FULL ? 2 : 1,
        ]);
      },
    },
  ]),
  {
    rules: ["S-NONCE-6"],
    title:
      "that are old get no response although nothing is unacknowledged; the names come with the next request",
    variants: sotwVariants,
    run(world) {
      for (const name of ["foo", "bar"]) world.put(PART, name, "1");
      const { client } = world.openSotw(PART);
      client.send({ typeUrl: PART, resourceNames: ["foo"] });
      world.run();
      const first = client.next();
      client.ack(first);
      world.put(PART, "foo", "2");
      world.run();
      const second = client.next();
      client.ack(second);
      client.send({
        typeUrl: PART,
        resourceNames: ["foo", "bar"],
        versionInfo: second.versionInfo,
        responseNonce: first.nonce,
      });
      world.run();
      expect(client.rest()).toEqual([]);
      client.send({
        typeUrl: PART,
        resourceNames: ["foo", "bar"],
        versionInfo: second.versionInfo,
        responseNonce: second.nonce,
      });
      world.run();
      expect(client.rest().map(({ resources }) => resources.length)).toEqual([1]);
    },
  },
  {
    rules: ["S-NONCE-7"],
    title: "that are empty are stale while a response is unacknowledged",
    variants: sotwVariants,
    run(world) {
      for (const name of ["foo", "bar"]) world.put(PART, name, "1");
      const { client } = world.openSotw(PART);
      client.send({ typeUrl: PART, resourceNames: ["foo"] });
      world.run();
      client.send({ typeUrl: PART, resourceNames: ["foo", "bar"] });
      world.run();
      const first = client.next();
      expect(client.rest()).toEqual([]);
      client.send({
        typeUrl: PART,
        resourceNames: ["foo", "bar"],
        versionInfo: first.versionInfo,
        responseNonce: first.nonce,
      });
      world.run();
      expect(client.rest().map(({ resources }) => resources.length)).toEqual([1]);
    },
  },
  ...[FULL, PART].map((typeUrl) => ({
    rules: ["S-NONCE-7"],
    title: `that are empty at rest are those of a client that has lost its state: it gets everything again: ${typeUrl === FULL ? "a full-state type" : "another type"}`,
    variants: sotwVariants,
    run(world: World): void {
      world.put(typeUrl, "foo", "1");
      const { client } = world.openSotw(typeUrl);
      client.send({ typeUrl, resourceNames: ["foo"] });
      world.run();
      const first = client.next();
      client.ack(first);
      client.send({ typeUrl, resourceNames: ["foo"] });
      world.run();
      const again = client.next();
      expect(again.resources).toHaveLength(1);
      expect(again.nonce).not.toBe(first.nonce);
      client.ack(again);
      world.run();
      expect(client.rest()).toEqual([]);
      expect(states(world)).toEqual(["SYNCED"]);
    },
  })),
  ...(
    [
      ["stale", (nonce: string): string => nonce],
      ["invented", (): string => "an invented one"],
    ] as const
  ).map(([kind, nonceOf]) => ({
    rules: ["S-NONCE-8"],
    title: `that are ${kind} do not take names out of a request, and are counted`,
    variants: deltaVariants,
    run(world: World): void {
      for (const name of ["a", "b", "c"]) world.put(PART, name, "1");
      const { client, stream } = world.openDelta(PART);
      client.send({ typeUrl: PART, resourceNamesSubscribe: ["a", "b"] });
      world.run();
      const first = client.next();
      client.ack(first);
      const responseNonce = nonceOf(first.nonce);
      client.send({
        typeUrl: PART,
        responseNonce,
        resourceNamesSubscribe: ["c"],
        resourceNamesUnsubscribe: ["b"],
      });
      expect(world.events.filter((event) => event.kind === "stale-nonce")).toHaveLength(1);
      world.run();
      const second = client.next();
      expect(second.resources.map(({ name }) => name)).toEqual(["c"]);
      client.ack(second);
      world.put(PART, "b", "2");
      world.run();
      expect(client.rest()).toEqual([]);
      expect(states(world)).toEqual(["SYNCED"]);
      expect(stream.closed).toBeUndefined();
    },
  })),
  {
    rules: ["S-NONCE-8"],
    title: "that are unknown neither accept nor reject what is unanswered",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "1");
      const { client } = world.openDelta(PART);
      client.send({ typeUrl: PART, resourceNamesSubscribe: ["a"] });
      world.run();
      client.send({
        typeUrl: PART,
        responseNonce: "999999999",
        errorDetail: { code: 3, message: "no" },
      });
      client.send({ typeUrl: PART, responseNonce: "0" });
      expect(states(world)).toEqual(["STALE"]);
      client.ack(client.next());
      expect(states(world)).toEqual(["SYNCED"]);
    },
  },
  {
    rules: ["S-NONCE-9"],
    title:
      "are recorded before the response can reach the wire: a client may answer within the very call",
    run(world) {
      world.put(PART, "a", "1");
      const { nonces, request } = openSynchronous(world, PART);
      const node = lengthDelimited(1, "n");
      request(
        isDelta(world.variant)
          ? Buffer.concat([
              lengthDelimited(1, node),
              lengthDelimited(2, PART),
              lengthDelimited(3, "a"),
            ])
          : Buffer.concat([
              lengthDelimited(2, node),
              lengthDelimited(3, "a"),
              lengthDelimited(4, PART),
            ]),
      );
      for (let n = 2; n < 10; n++) {
        world.run();
        world.put(PART, "a", String(n));
      }
      world.run();
      expect(nonces).toHaveLength(9);
      expect(world.events.filter(({ kind }) => kind === "ack")).toMatchObject(
        nonces.map((nonce) => ({ nonce })),
      );
      expect(world.events.filter(({ kind }) => kind === "stale-nonce")).toEqual([]);
    },
  },
]);
