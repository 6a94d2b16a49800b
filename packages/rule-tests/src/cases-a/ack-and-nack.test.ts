import { StatusCode, XdsError } from "@xdstp/core";
import { expect } from "vitest";
import { createWorld, type World } from "../harness/create-world.ts";
import { FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import type { TypeClient } from "../harness/type-client.ts";
import { deltaVariants, everyVariant, isDelta, sotwVariants } from "../harness/variant.ts";
import type { TypeStatus } from "@xdstp/protocol/server";

/** The row of a type on the only stream that has it. */
function rowOf(world: World, typeUrl: string): TypeStatus | undefined {
  return world
    .status()
    .flatMap(({ types }) => types)
    .find((row) => row.typeUrl === typeUrl);
}

/** A client that has accepted these resources. */
function settled(world: World, typeUrl: string, ...names: readonly string[]): TypeClient {
  for (const name of names) world.put(typeUrl, name, "1");
  const client = world.connect().of(typeUrl);
  client.subscribe(...names);
  world.run();
  client.ack(client.next());
  return client;
}

/** Names and texts of the only answer there is. */
function only(client: TypeClient): readonly (readonly [string, string])[] {
  const answers = client.rest();
  expect(answers).toHaveLength(1);
  return (answers[0]?.resources ?? []).map(({ name, text }) => [name, text] as const).sort();
}

const nackCodes = [0, 2, 3, 13, 14];

runCases("ACK and NACK", [
  {
    rules: ["S-ACK-7"],
    title: "takes an old version with the current nonce and one more name for an ACK",
    variants: sotwVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const { client } = world.openSotw(PART);
      client.send({ typeUrl: PART, resourceNames: ["a"] });
      world.run();
      const first = client.next();
      client.ack(first);
      world.put(PART, "a", "2");
      world.run();
      const second = client.next();
      client.send({
        typeUrl: PART,
        resourceNames: ["a", "b"],
        versionInfo: first.versionInfo,
        responseNonce: second.nonce,
      });
      expect(rowOf(world, PART)).toMatchObject({
        nacks: 0,
        versionAccepted: second.versionInfo,
        nonceAccepted: second.nonce,
      });
      world.run();
      expect(client.rest().map(({ resources }) => resources.length)).toEqual([1]);
    },
  },
  ...nackCodes.map((code) => ({
    rules: ["S-ACK-7"],
    title: `takes a request with error_detail of code ${code} for a NACK, whatever version it bears`,
    run(world: World): void {
      world.put(PART, "a", "1");
      const { client } = isDelta(world.variant) ? world.openDelta(PART) : world.openSotw(PART);
      client.send({ typeUrl: PART });
      world.run();
      const { nonceSent = "", versionSent = "" } = rowOf(world, PART) ?? {};
      const nack = { typeUrl: PART, responseNonce: nonceSent, errorDetail: { code, message: "" } };
      client.send(isDelta(world.variant) ? nack : { ...nack, versionInfo: versionSent });
      expect(rowOf(world, PART)).toMatchObject({
        state: "NACKED",
        nacks: 1,
        versionAccepted: "",
        nonceAccepted: "",
        lastError: { code },
      });
    },
  })),
  ...[FULL, PART].flatMap((typeUrl) => {
    const kind = typeUrl === FULL ? "a full-state type" : "another type";
    return [
      {
        rules: ["S-ACK-8"],
        title: `says nothing to three equal NACKs, and one thing to the next change: ${kind}`,
        run(world: World): void {
          world.put(typeUrl, "a", "bad");
          const client = world.connect().of(typeUrl);
          client.subscribe("a");
          world.run();
          const bad = client.next();
          for (let n = 0; n < 3; n++) {
            client.nack(bad, "no");
            world.run();
          }
          world.clock.advance(60_000);
          world.run();
          expect(client.rest()).toEqual([]);
          world.put(typeUrl, "a", "good");
          world.run();
          expect(only(client)).toEqual([["a", "good"]]);
        },
      },
      {
        rules: ["S-ACK-8"],
        title: `answers a NACK at once where the state has changed before it: ${kind}`,
        run(world: World): void {
          world.put(typeUrl, "a", "bad");
          const client = world.connect().of(typeUrl);
          client.subscribe("a");
          world.run();
          const bad = client.next();
          world.put(typeUrl, "a", "good");
          world.run();
          expect(client.rest()).toEqual([]);
          client.nack(bad, "no");
          world.run();
          expect(only(client)).toEqual([["a", "good"]]);
        },
      },
      {
        rules: ["S-ACK-8"],
        title: `answers it with all that was rejected, also what has not changed: ${kind}`,
        run(world: World): void {
          for (const name of ["a", "b"]) world.put(typeUrl, name, "1");
          const client = world.connect().of(typeUrl);
          client.subscribe("a", "b");
          world.run();
          const bad = client.next();
          world.put(typeUrl, "a", "good");
          world.run();
          client.nack(bad, "a is bad");
          world.run();
          expect(only(client)).toEqual([
            ["a", "good"],
            ["b", "1"],
          ]);
        },
      },
      {
        rules: ["S-ACK-8"],
        title: `sends all three again when the bad one of them is corrected: ${kind}`,
        run(world: World): void {
          const client = settled(world, typeUrl, "a", "b", "c", "d");
          world.cache.transaction(({ put }) => {
            for (const name of ["a", "b", "c"])
              put({ typeUrl, name, value: Buffer.from([0x0a, 1, name.charCodeAt(0), 0x10, 2]) });
          });
          world.run();
          const bad = client.next();
          expect(bad.names).toEqual(expect.arrayContaining(["a", "b", "c"]));
          client.nack(bad, "b is bad");
          world.put(typeUrl, "b", "good");
          world.run();
          const [answer, ...more] = client.rest();
          expect(more).toEqual([]);
          expect(answer?.names.toSorted()).toEqual(
            typeUrl === FULL && !isDelta(world.variant) ? ["a", "b", "c", "d"] : ["a", "b", "c"],
          );
          expect(answer?.resources.find(({ name }) => name === "b")?.text).toBe("good");
        },
      },
      {
        rules: ["S-ACK-8"],
        title: `sends them again also when the bad one is removed: ${kind}`,
        run(world: World): void {
          const client = settled(world, typeUrl, "a", "b");
          world.cache.transaction(({ put }) => {
            for (const name of ["a", "b"])
              put({ typeUrl, name, value: Buffer.from([0x0a, 1, name.charCodeAt(0), 0x10, 2]) });
          });
          world.run();
          client.nack(client.next(), "b is bad");
          world.remove(typeUrl, "b");
          world.run();
          const [answer, ...more] = client.rest();
          expect(more).toEqual([]);
          expect(answer).toMatchObject({
            names: ["a"],
            removed: isDelta(world.variant) ? ["b"] : [],
          });
        },
      },
      {
        rules: ["S-ACK-8", "S-ACK-10"],
        title: `answers a name that a NACK adds, without what was rejected: ${kind}`,
        run(world: World): void {
          const client = settled(world, typeUrl, "a");
          world.put(typeUrl, "new", "1");
          world.put(typeUrl, "a", "bad");
          world.run();
          const bad = client.next();
          client.nack(bad, "no", { add: ["new"] });
          world.run();
          const [answer, ...more] = client.rest();
          expect(more).toEqual([]);
          expect(answer?.names.toSorted()).toEqual(
            typeUrl === FULL && !isDelta(world.variant) ? ["a", "new"] : ["new"],
          );
        },
      },
    ];
  }),
  {
    rules: ["S-ACK-8"],
    title:
      "sends a rejected new state again where it was rejected and then changed twice, only in its newest form",
    run(world) {
      const client = settled(world, PART, "a");
      world.put(PART, "a", "bad");
      world.run();
      client.nack(client.next(), "no");
      world.put(PART, "a", "worse");
      world.put(PART, "a", "good");
      world.run();
      expect(only(client)).toEqual([["a", "good"]]);
    },
  },
  {
    rules: ["S-ACK-8", "S-ERR-3"],
    title:
      "is not a reason to say again what was rejected that a name is missing for another reason, which is not told",
    variants: deltaVariants,
    run(world) {
      const client = settled(world, PART, "a");
      const miss = (text: string): void => {
        world.cache.commit({
          remove: [{ typeUrl: PART, name: "none", error: new XdsError("NOT_FOUND", text) }],
        });
      };
      client.subscribe("none");
      world.put(PART, "a", "bad");
      world.run();
      const bad = client.next();
      expect(bad).toMatchObject({ names: ["a"], removed: ["none"] });
      miss("it has not come in time");
      client.nack(bad, "no");
      world.run();
      expect(client.rest()).toEqual([]);
      miss("it does not exist");
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(PART, "a", "good");
      world.run();
      expect(only(client)).toEqual([["a", "good"]]);
    },
  },
  {
    rules: ["S-ACK-9"],
    title:
      "is shown: nonce and version sent and accepted, the newest error with its time, since when an answer is awaited",
    run(world) {
      const client = settled(world, PART, "a");
      const before = rowOf(world, PART);
      expect(before).toMatchObject({ state: "SYNCED", nacks: 0 });
      expect(before?.nonceAccepted).toBe(before?.nonceSent);
      expect(before).not.toHaveProperty("pendingSince");
      world.clock.advance(1_000);
      world.put(PART, "a", "2");
      world.run();
      const bad = client.next();
      const accepted = { versionAccepted: before?.versionSent, nonceAccepted: before?.nonceSent };
      expect(rowOf(world, PART)).toMatchObject({
        state: "STALE",
        pendingSince: 1_000,
        versionSent: bad.version,
        nonceSent: bad.nonce,
        ...accepted,
      });
      world.clock.advance(500);
      client.nack(bad, "a: no such field");
      expect(rowOf(world, PART)).toMatchObject({
        state: "NACKED",
        nacks: 1,
        versionSent: bad.version,
        nonceSent: bad.nonce,
        ...accepted,
        lastError: { code: 3, message: "a: no such field", at: 1_500, version: bad.version },
      });
      expect(world.events.at(-1)).toMatchObject({
        kind: "nack",
        typeUrl: PART,
        version: bad.version,
        accepted: before?.versionSent,
        nonce: bad.nonce,
        error: { message: "a: no such field" },
      });
    },
  },
  {
    rules: ["S-ACK-10"],
    title: "may add and drop names with an ACK",
    run(world) {
      const client = settled(world, PART, "a", "b");
      world.put(PART, "c", "1");
      world.put(PART, "b", "2");
      world.run();
      client.ack(client.next(), { add: ["c"], drop: ["b"] });
      world.run();
      const more = client.next();
      expect(more).toMatchObject({ names: ["c"], removed: [] });
      client.ack(more);
      world.put(PART, "b", "3");
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-10"],
    title: "may drop the rejected name with the NACK: the rest of what was rejected comes",
    run(world) {
      const client = settled(world, PART, "a", "b");
      world.cache.transaction(({ put }) => {
        for (const name of ["a", "b"])
          put({ typeUrl: PART, name, value: Buffer.from([0x0a, 1, name.charCodeAt(0), 0x10, 2]) });
      });
      world.run();
      client.nack(client.next(), "b is bad", { drop: ["b"] });
      world.run();
      const answer = client.next();
      expect(answer).toMatchObject({ names: ["a"], removed: [] });
      client.ack(answer);
      expect(rowOf(world, PART)?.state).toBe("SYNCED");
      world.put(PART, "b", "good");
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-11"],
    title:
      "has the last word at rest: an ACK, a repeated ACK and a put of equal content get no response",
    run(world) {
      const peer = world.connect();
      const typeUrls = [FULL, PART];
      let received = 0;
      let sent = 0;
      for (const typeUrl of typeUrls) {
        world.put(typeUrl, "a", "1");
        peer.of(typeUrl).subscribe("a");
        sent++;
      }
      world.run();
      for (const typeUrl of typeUrls) {
        const answer = peer.of(typeUrl).next();
        received++;
        peer.of(typeUrl).ack(answer);
        peer.of(typeUrl).ack(answer);
        sent += 2;
      }
      world.run();
      for (const typeUrl of typeUrls) world.put(typeUrl, "a", "1");
      world.run();
      world.clock.advance(60_000);
      world.run();
      received += peer.answers().length;
      expect([received, sent]).toEqual([2, 6]);
    },
  },
  {
    rules: ["S-ACK-11"],
    title: "brings nothing where a change was taken back before it was sent",
    variants: sotwVariants,
    run(world) {
      const client = settled(world, FULL, "a");
      world.put(FULL, "a", "2");
      world.put(FULL, "a", "1");
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-15"],
    title: "carries a text that is cut, kept as it is, and changes nothing",
    run(world) {
      const client = settled(world, PART, "a");
      world.put(PART, "a", "bad");
      world.run();
      const text = "\u001b[31m<script>\u0007".padEnd(1 << 20, "x");
      client.nack(client.next(), text);
      expect(rowOf(world, PART)).toMatchObject({
        state: "NACKED",
        lastError: { code: 3, message: text.slice(0, 4_096) },
      });
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(PART, "a", "good");
      world.run();
      client.ack(client.next());
      expect(rowOf(world, PART)?.state).toBe("SYNCED");
    },
  },
  {
    rules: ["S-ACK-16"],
    title: "merges 1,000 changes while one response is unacknowledged into one more",
    run(world) {
      world.put(PART, "a", "0");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      for (let n = 1; n <= 1_000; n++) {
        world.put(PART, "a", String(n));
        world.run();
      }
      expect(client.rest()).toEqual([]);
      client.ack(first);
      world.run();
      const second = client.next();
      expect(second.resources.map(({ text }) => text)).toEqual(["1000"]);
      client.ack(second);
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  ...[FULL, PART].map((typeUrl) => ({
    rules: ["S-ACK-16"],
    title: `is repaired after 5 s without an answer, once per interval and only with news: ${typeUrl === FULL ? "a full-state type" : "another type"}`,
    run(world: World): void {
      world.put(typeUrl, "a", "1");
      const client = world.connect().of(typeUrl);
      client.subscribe("a");
      world.run();
      client.next();
      const wait = (ms: number): void => {
        world.clock.advance(ms);
        world.run();
      };
      wait(1_000);
      world.put(typeUrl, "a", "2");
      world.put(typeUrl, "a", "3");
      wait(3_999);
      expect(client.rest()).toEqual([]);
      wait(1);
      expect(only(client)).toEqual([["a", "3"]]);
      wait(20_000);
      expect(client.rest()).toEqual([]);
      world.put(typeUrl, "a", "4");
      wait(0);
      expect(only(client)).toEqual([["a", "4"]]);
      world.put(typeUrl, "a", "5");
      wait(4_999);
      expect(client.rest()).toEqual([]);
      wait(1);
      const newest = client.next();
      expect(newest.resources).toMatchObject([{ text: "5" }]);
      expect(client.rest()).toEqual([]);

      client.ack(newest);
      expect(rowOf(world, typeUrl)).toMatchObject({ state: "SYNCED", nonceAccepted: newest.nonce });
      world.put(typeUrl, "a", "6");
      wait(0);
      expect(only(client)).toEqual([["a", "6"]]);
    },
  })),
  {
    rules: ["S-ACK-16"],
    title: "is repaired also for a name that is wanted newly meanwhile",
    variants: deltaVariants,
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      client.next();
      client.subscribe("b");
      world.run();
      expect(client.rest()).toEqual([]);
      world.clock.advance(5_000);
      world.run();
      expect(only(client)).toEqual([["b", "1"]]);
    },
  },
  {
    rules: ["S-ACK-16"],
    title:
      "settles older responses by the answer to the newest: nothing rejected in between is forgotten",
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      world.put(PART, "a", "2");
      world.clock.advance(5_000);
      world.run();
      const second = client.next();
      client.ack(first);
      expect(rowOf(world, PART)?.state).toBe("STALE");
      client.ack(second);
      expect(rowOf(world, PART)).toMatchObject({
        state: "SYNCED",
        versionAccepted: second.version,
      });
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-16", "S-ACK-8"],
    title:
      "rejected before a repair and accepted after it: what was rejected with the mended one comes again",
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, "1");
      const client = world.connect().of(PART);
      client.subscribe("a", "b");
      world.run();
      const bad = client.next();
      world.put(PART, "a", "mended");
      world.clock.advance(5_000);
      world.run();
      const repair = client.next();
      expect(repair.names).toEqual(["a"]);
      client.nack(bad, "a is bad, and b is not applied either");
      client.ack(repair);
      world.run();
      const again = client.next();
      expect(again.names.toSorted()).toEqual(["a", "b"]);
      client.ack(again);
      expect(rowOf(world, PART)).toMatchObject({ state: "SYNCED", nacks: 1 });
      world.run();
      expect(client.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-ACK-16", "S-ACK-8"],
    title: "rejected after a repair is not sent again because of that",
    run(world) {
      world.put(PART, "a", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      client.next();
      world.put(PART, "a", "bad");
      world.clock.advance(5_000);
      world.run();
      client.nack(client.next(), "no");
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(PART, "a", "good");
      world.run();
      expect(only(client)).toEqual([["a", "good"]]);
    },
  },
  {
    rules: ["S-ACK-17"],
    title:
      "that does not come within a limit ends the stream, where that is wanted, and never by default",
    variants: everyVariant,
    world: { limits: { endStuckMs: 60_000 } },
    run(world) {
      world.put(PART, "a", "1");
      const [silent, other] = [world.connect(), world.connect()];
      for (const peer of [silent, other]) peer.of(PART).subscribe("a");
      world.run();
      other.of(PART).ack(other.of(PART).next());
      world.clock.advance(59_999);
      world.run();
      expect(silent.streamOf(PART).stream.closed).toBeUndefined();
      world.clock.advance(1);
      world.run();
      expect(silent.streamOf(PART).stream.closed?.code).toBe(StatusCode.UNAVAILABLE);
      world.clock.advance(600_000);
      expect(other.streamOf(PART).stream.closed).toBeUndefined();
      const standard = createWorld({ variant: world.variant });
      standard.put(PART, "a");
      const patient = standard.connect();
      patient.of(PART).subscribe("a");
      standard.run();
      standard.clock.advance(86_400_000);
      standard.run();
      expect(patient.streamOf(PART).stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-ACK-17"],
    title: "that does not come within 30 s is shown as stuck; other types and other clients go on",
    variants: everyVariant,
    run(world) {
      for (const typeUrl of [PART, OTHER_PART]) world.put(typeUrl, "a", "1");
      const [silent, other] = [world.connect(), world.connect()];
      for (const client of [silent.of(PART), silent.of(OTHER_PART), other.of(PART)])
        client.subscribe("a");
      world.run();
      silent.of(PART).next();
      for (const client of [silent.of(OTHER_PART), other.of(PART)]) client.ack(client.next());
      const stuck = (): readonly boolean[] =>
        world
          .status()
          .flatMap(({ types }) => types)
          .map((row) => row.stuck);
      world.clock.advance(30_000);
      expect(stuck()).toEqual([false, false, false]);
      world.clock.advance(1);
      expect(stuck().filter(Boolean)).toHaveLength(1);
      expect(
        world
          .status()
          .flatMap(({ types }) => types)
          .find((row) => row.stuck),
      ).toMatchObject({ typeUrl: PART, pendingSince: 0 });
      for (const typeUrl of [PART, OTHER_PART]) world.put(typeUrl, "a", "2");
      world.run();
      for (const client of [silent.of(OTHER_PART), other.of(PART)])
        expect(client.next().resources).toMatchObject([{ text: "2" }]);
      expect(silent.streamOf(PART).stream.closed).toBeUndefined();
    },
  },
  ...(["ACK", "NACK"] as const).map((answered) => ({
    rules: ["S-ACK-19"],
    title: `with an error under a nonce that got its ${answered} before is not a new NACK; its names count`,
    run(world: World): void {
      world.put(PART, "a", "1");
      world.put(PART, "b", "1");
      const client = world.connect().of(PART);
      client.subscribe("a");
      world.run();
      const first = client.next();
      if (answered === "ACK") client.ack(first);
      else client.nack(first, "an old error");
      client.nack(first, "an old error", { add: ["b"] });
      world.run();
      expect(rowOf(world, PART)?.nacks).toBe(answered === "ACK" ? 0 : 1);
      expect(world.events.filter(({ kind }) => kind === "nack")).toHaveLength(
        answered === "ACK" ? 0 : 1,
      );
      expect(only(client)).toEqual([["b", "1"]]);
    },
  })),
  {
    rules: ["S-ACK-16"],
    title:
      "is counted for a response, not for a part of another stream: an answer of one client settles nothing of another",
    variants: deltaVariants,
    run(world) {
      world.put(PART, "a", "1");
      const [one, other] = [world.connect(), world.connect()];
      for (const peer of [one, other]) peer.of(PART).subscribe("a");
      world.run();
      one.of(PART).ack(one.of(PART).next());
      expect(world.status().map(({ types }) => types[0]?.state)).toEqual(["SYNCED", "STALE"]);
    },
  },
]);
