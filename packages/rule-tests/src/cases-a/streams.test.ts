import { StatusCode } from "@xdstp/core";
import { expect } from "vitest";
import { addHeldFeed } from "../harness/held-feed.ts";
import { FULL, OTHER_FULL, OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import {
  adsVariants,
  deltaVariants,
  everyVariant,
  isDelta,
  perTypeVariants,
  sotwVariants,
} from "../harness/variant.ts";

const UNKNOWN = "type.googleapis.com/test.Unknown";
const wraps = { id: "n", clientFeatures: ["xds.config.supports-resource-in-sotw"] };

runCases("streams", [
  {
    rules: ["B-STREAM-1"],
    title: "serves what was asked for and follows its changes",
    run(world) {
      world.put(FULL, "a", "1");
      world.put(FULL, "b", "1");
      const full = world.connect().of(FULL);
      full.subscribe("a");
      world.run();
      const first = full.next();
      expect(first.resources).toMatchObject([{ name: "a", text: "1" }]);
      full.ack(first);
      world.put(FULL, "a", "2");
      world.run();
      expect(full.next().resources).toMatchObject([{ name: "a", text: "2" }]);
      expect(full.rest()).toEqual([]);
    },
  },
  {
    rules: ["B-STREAM-3"],
    title: "keeps version, nonce, ACK and NACK of one type from another",
    run(world) {
      world.put(FULL, "a");
      world.put(OTHER_FULL, "b", "1");
      const peer = world.connect();
      const [rejecting, accepting] = [peer.of(FULL), peer.of(OTHER_FULL)];
      rejecting.subscribe("a");
      accepting.subscribe("b");
      world.run();
      const [bad, good] = [rejecting.next(), accepting.next()];
      rejecting.nack(bad, "no");
      accepting.ack(good);
      expect(world.status().flatMap(({ types }) => types)).toMatchObject([
        { typeUrl: FULL, state: "NACKED", nacks: 1, nonceSent: bad.nonce, versionAccepted: "" },
        {
          typeUrl: OTHER_FULL,
          state: "SYNCED",
          nacks: 0,
          nonceAccepted: good.nonce,
          versionAccepted: good.version,
        },
      ]);
      world.put(OTHER_FULL, "b", "2");
      world.run();
      expect(accepting.next().resources).toMatchObject([{ name: "b", text: "2" }]);
      expect(rejecting.rest()).toEqual([]);
    },
  },
  {
    rules: ["B-STREAM-3"],
    title: "keeps the wildcard and the names of one type from another",
    run(world) {
      for (const name of ["a", "b"]) {
        world.put(FULL, name);
        world.put(PART, name);
      }
      const peer = world.connect();
      peer.of(FULL).subscribe();
      peer.of(PART).subscribe("a");
      world.run();
      expect(peer.of(FULL).next().names).toEqual(["a", "b"]);
      expect(peer.of(PART).next().names).toEqual(["a"]);
    },
  },
  {
    rules: ["B-STREAM-4"],
    title: "passes a type without descriptor through as bytes",
    run(world) {
      const value = Uint8Array.of(0xff, 0x00, 0x80);
      world.cache.put({ typeUrl: UNKNOWN, name: "a", value });
      const client = world.connect({ node: wraps }).of(UNKNOWN);
      client.subscribe("a");
      world.run();
      const answer = client.next();
      expect(answer.typeUrl).toBe(UNKNOWN);
      expect(answer.resources.map(({ name, payload }) => [name, [...payload]])).toEqual([
        ["a", [...value]],
      ]);
    },
  },
  {
    rules: ["S-STREAM-5"],
    title: "sends nothing for a type before its first request",
    run(world) {
      const peer = world.connect();
      peer.streamOf(FULL);
      peer.streamOf(PART);
      world.put(FULL, "a");
      world.run();
      expect(peer.answers()).toEqual([]);
      peer.of(FULL).subscribe("a");
      world.run();
      peer.of(FULL).ack(peer.of(FULL).next());
      world.put(PART, "a");
      world.run();
      expect(peer.answers()).toEqual([]);
    },
  },
  {
    rules: ["S-STREAM-6"],
    title: "serves two names on one stream and on two streams of one node alike",
    run(world) {
      for (const name of ["foo", "bar"]) world.put(PART, name, `of ${name}`);
      const one = world.connect().of(PART);
      const two = [world.connect().of(PART), world.connect().of(PART)] as const;
      one.subscribe("foo", "bar");
      two[0].subscribe("foo");
      two[1].subscribe("bar");
      world.run();
      const together = one.next().resources;
      const apart = [...two[0].next().resources, ...two[1].next().resources];
      expect(together.map(({ name, text }) => [name, text])).toEqual([
        ["foo", "of foo"],
        ["bar", "of bar"],
      ]);
      expect(apart).toEqual(together);
    },
  },
  {
    rules: ["S-STREAM-7"],
    title: "ends only the stream that sends garbage, with a fixed text",
    run(world) {
      world.put(PART, "a", "1");
      const [bad, good] = [world.connect(), world.connect()];
      for (const peer of [bad, good]) peer.of(PART).subscribe("a");
      world.run();
      good.of(PART).ack(good.of(PART).next());
      bad.streamOf(PART).stream.send(Buffer.from("\x0a\xffgarbage"));
      const closed = bad.streamOf(PART).stream.closed;
      expect(closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
      expect(closed?.message).not.toContain("garbage");
      world.put(PART, "a", "2");
      world.run();
      expect(good.of(PART).next().resources).toMatchObject([{ text: "2" }]);
      expect(good.streamOf(PART).stream.closed).toBeUndefined();
    },
  },
  {
    rules: ["S-STREAM-7"],
    title: "takes no message after the one that ended the stream",
    run(world) {
      world.put(PART, "a");
      const peer = world.connect();
      peer.streamOf(PART).stream.send(Uint8Array.of(0x0a, 0xff));
      peer.of(PART).subscribe("a");
      world.run();
      expect(peer.answers()).toEqual([]);
      expect(world.cache.counters.topics).toBe(0);
    },
  },
  {
    rules: ["S-STREAM-8", "S-TYPE-3"],
    title:
      "answers each name of a type that it does not serve as removed, and goes on with the others",
    variants: deltaVariants,
    run(world) {
      world.put(FULL, "a", "1");
      const peer = world.connect();
      peer.of(FULL).subscribe("a");
      peer.of(UNKNOWN).subscribe("x", "y");
      world.run();
      const nothing = peer.of(UNKNOWN).next();
      expect(nothing).toMatchObject({ typeUrl: UNKNOWN, resources: [], removed: ["x", "y"] });
      peer.of(UNKNOWN).ack(nothing);
      peer.of(FULL).ack(peer.of(FULL).next());
      world.put(FULL, "a", "2");
      world.run();
      expect(peer.of(FULL).next().resources).toMatchObject([{ text: "2" }]);
      expect(peer.of(UNKNOWN).rest()).toEqual([]);
    },
  },
  {
    rules: ["S-STREAM-8", "S-TYPE-3"],
    title:
      "gives one empty response for a type that it does not serve, and goes on with the others",
    variants: sotwVariants,
    run(world) {
      world.put(FULL, "a", "1");
      const peer = world.connect();
      peer.of(FULL).subscribe("a");
      peer.of(UNKNOWN).subscribe("x");
      world.run();
      const nothing = peer.of(UNKNOWN).next();
      expect(nothing).toMatchObject({ typeUrl: UNKNOWN, resources: [] });
      peer.of(UNKNOWN).ack(nothing);
      peer.of(UNKNOWN).subscribe("y");
      peer.of(FULL).ack(peer.of(FULL).next());
      world.put(FULL, "a", "2");
      world.run();
      expect(peer.of(FULL).next().resources).toMatchObject([{ text: "2" }]);
      expect(peer.of(UNKNOWN).rest()).toEqual([]);
    },
  },
  {
    rules: ["S-STREAM-8"],
    title: "sends what was asked for of such a type once it is served",
    run(world) {
      const client = world.connect({ node: wraps }).of(UNKNOWN);
      client.subscribe("x");
      world.run();
      client.ack(client.next());
      world.put(UNKNOWN, "x", "1");
      world.run();
      expect(client.next().resources).toMatchObject([{ name: "x", text: "1" }]);
    },
  },
  {
    rules: ["S-STREAM-8", "S-TYPE-2"],
    title: "rejects another type than that of the service",
    variants: perTypeVariants,
    run(world) {
      const stream = isDelta(world.variant) ? world.openDelta(FULL) : world.openSotw(FULL);
      stream.client.send({ typeUrl: PART });
      expect(stream.stream.closed?.code).toBe(StatusCode.INVALID_ARGUMENT);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "waits for a name that is merely pending: 10 s, then the other one goes alone",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const full = world.connect().of(FULL);
      full.subscribe("a", "b");
      feed.put(FULL, "a");
      world.run();
      expect(full.rest()).toEqual([]);
      world.clock.advance(9_999);
      world.run();
      expect(full.rest()).toEqual([]);
      world.clock.advance(1);
      world.run();
      const first = full.next();
      expect(first.names).toEqual(["a"]);
      full.ack(first);
      feed.put(FULL, "b");
      world.run();
      expect(full.next().names.toSorted()).toEqual(["a", "b"]);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "sends nothing after 10 s while nothing is known, and then what comes first",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const full = world.connect().of(FULL);
      full.subscribe("a", "b");
      world.clock.advance(10_000);
      world.run();
      expect(full.rest()).toEqual([]);
      feed.put(FULL, "b");
      world.run();
      expect(full.next().names).toEqual(["b"]);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "does not take a name that is known to be missing for something to send after 10 s",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const full = world.connect().of(FULL);
      full.subscribe("a", "b");
      feed.miss(FULL, "a");
      world.clock.advance(10_000);
      world.run();
      expect(full.rest()).toEqual([]);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "lets a client that holds a version wait on, since it would take the rest for deleted",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const { client } = world.openSotw(FULL);
      client.send({ typeUrl: FULL, resourceNames: ["a", "b"], versionInfo: "held" });
      feed.put(FULL, "a");
      world.clock.advance(3_600_000);
      world.run();
      expect(client.rest()).toEqual([]);
      feed.put(FULL, "b");
      world.run();
      expect(client.next().resources).toHaveLength(2);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "sends each name once it is known, and no empty response before",
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const part = world.connect().of(PART);
      part.subscribe("a", "b", "c");
      world.run();
      expect(part.rest()).toEqual([]);
      feed.put(PART, "a");
      world.run();
      const first = part.next();
      expect(first).toMatchObject({ names: ["a"], removed: [] });
      part.ack(first);
      feed.miss(PART, "b");
      world.run();
      if (isDelta(world.variant)) {
        const second = part.next();
        expect(second).toMatchObject({ names: [], removed: ["b"] });
        part.ack(second);
      }
      feed.put(PART, "c");
      world.run();
      expect(part.next()).toMatchObject({ names: ["c"], removed: [] });
    },
  },
  {
    rules: ["S-STREAM-9"],
    title: "waits 10 s also for a name that a second request adds before the first answer",
    variants: sotwVariants,
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      feed.put(FULL, "a");
      const full = world.connect().of(FULL);
      full.subscribe("a");
      full.subscribe("b");
      world.run();
      expect(full.rest()).toEqual([]);
      world.clock.advance(10_000);
      world.run();
      expect(full.next().names).toEqual(["a"]);
    },
  },
  {
    rules: ["S-STREAM-9"],
    title:
      "sends no empty response while a name is pending, although the other one is known to be missing and not told",
    variants: deltaVariants,
    world: {
      ready: false,
      quirks: [
        {
          client: "",
          rule: "S-MISS-1",
          difference: "as Envoy",
          reason: "as with its routes",
          effect: { missingAs: { [PART]: "nothing" } },
        },
      ],
    },
    run(world) {
      const feed = addHeldFeed(world.cache);
      const part = world.connect().of(PART);
      part.subscribe("a", "b");
      feed.miss(PART, "a");
      world.run();
      expect(part.rest()).toEqual([]);
      feed.put(PART, "b");
      world.run();
      expect(part.next()).toMatchObject({ names: ["b"], removed: [] });
    },
  },
  {
    rules: ["S-STREAM-10"],
    title: "keeps neither watch nor timer nor queue of 1,000 streams that have ended",
    world: { ready: false },
    run(world) {
      const feed = addHeldFeed(world.cache);
      for (let n = 0; n < 1_000; n++) {
        const peer = world.connect();
        for (const typeUrl of [FULL, PART])
          peer.of(typeUrl).subscribe("a", "pending", "*", "xdstp://a/test.Full/x/*");
        if (n % 2 === 0) world.run();
        peer.leave();
      }
      feed.put(FULL, "a");
      world.run();
      expect(world.cache.counters.topics).toBe(0);
      expect(world.clock.pending).toBe(0);
      expect(world.turns.pending).toBe(0);
      expect(world.status()).toEqual([]);
    },
  },
  {
    rules: ["S-STREAM-10"],
    title: "has no timer left, one interval after a stream with an unanswered response has ended",
    run(world) {
      world.put(PART, "a", "1");
      const peer = world.connect();
      peer.of(PART).subscribe("a");
      world.run();
      world.put(PART, "a", "2");
      peer.leave();
      world.clock.advance(5_000);
      world.run();
      expect(world.clock.pending).toBe(0);
      expect(world.cache.counters.topics).toBe(0);
    },
  },
  {
    rules: ["B-STREAM-12"],
    title: "takes 10,000 requests of a peer that does not read, and owes it one response",
    world: { limits: { changeBurst: 20_000 } },
    run(world) {
      for (let n = 0; n < 100; n++) world.put(PART, `r${n}`);
      const peer = world.connect();
      const { stream } = peer.streamOf(PART);
      stream.fill();
      const part = peer.of(PART);
      part.subscribe("r0");
      world.run();
      expect(stream.unread).toBe(1);
      for (let n = 0; n < 10_000; n++) {
        if (n % 2 === 0) part.subscribe(`r${1 + (n % 98)}`);
        else part.unsubscribe(`r${1 + ((n - 1) % 98)}`);
      }
      part.subscribe("r99");
      world.run();
      expect(stream.unread).toBe(1);
      part.ack(part.next());
      world.run();
      expect(stream.unread).toBe(0);
      stream.drain();
      world.run();
      expect(part.next().names).toEqual(["r99"]);
      expect(part.rest()).toEqual([]);
    },
  },
  {
    rules: ["B-STREAM-12"],
    title: "serves the other streams while one does not take its messages",
    variants: everyVariant,
    run(world) {
      world.put(OTHER_PART, "a", "1");
      const [stuck, reading] = [world.connect(), world.connect()];
      stuck.streamOf(OTHER_PART).stream.fill();
      for (const peer of [stuck, reading]) peer.of(OTHER_PART).subscribe("a");
      world.run();
      for (let n = 2; n < 200; n++) {
        world.put(OTHER_PART, "a", String(n));
        world.run();
        reading.of(OTHER_PART).ack(reading.of(OTHER_PART).next());
        world.run();
      }
      expect(reading.of(OTHER_PART).next().resources).toMatchObject([{ text: "199" }]);
      expect(stuck.streamOf(OTHER_PART).stream.unread).toBe(1);
    },
  },
  {
    rules: ["S-STREAM-8"],
    title: "keeps the stream open when its first type is one that it does not serve",
    variants: adsVariants,
    run(world) {
      const peer = world.connect();
      peer.of(UNKNOWN).subscribe("x");
      world.run();
      expect(peer.streamOf(UNKNOWN).stream.closed).toBeUndefined();
      expect(peer.of(UNKNOWN).rest()).toHaveLength(1);
    },
  },
]);
