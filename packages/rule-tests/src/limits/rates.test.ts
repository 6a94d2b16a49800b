import { expect } from "vitest";
import { acceptAll, begin } from "../harness/accept-all.ts";
import type { World } from "../harness/create-world.ts";
import { OTHER_PART, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";
import { deltaVariants, sotwVariants } from "../harness/variant.ts";

const counts = (world: World): unknown => world.context.limited.counts;

runCases("the rate of subscription changes of one stream", [
  {
    rules: ["S-LIM-2"],
    title: "slows a flood of changes and does not end the stream; another stream notices nothing",
    world: { limits: { changeBurst: 100, changesPerSecond: 100 } },
    run(world) {
      for (const name of ["a", "last"]) world.put(PART, name, "1");
      const [flooding, other] = [world.connect(), world.connect()];
      begin(world, other.of(PART), "a");
      const client = flooding.of(PART);
      for (let i = 0; i < 300; i++) {
        client.subscribe(`n${i}`);
        world.run();
      }
      client.subscribe("last");
      const heard = acceptAll(world, client).flatMap(({ names }) => names);
      expect(heard).not.toContain("last");
      expect(flooding.streamOf(PART).stream.closed).toBeUndefined();
      world.put(PART, "a", "2");
      expect(acceptAll(world, other.of(PART))).toMatchObject([{ names: ["a"] }]);
      for (let second = 0; second < 4; second++)
        for (let tick = 0; tick < 100; tick++) {
          world.clock.advance(10);
          heard.push(...acceptAll(world, client).flatMap(({ names }) => names));
        }
      expect(heard).toContain("last");
      expect(counts(world)).toMatchObject({ changesPerSecond: expect.any(Number) as number });
    },
  },
  {
    rules: ["S-LIM-2"],
    title: "takes any number of plain ACKs",
    world: { limits: { changeBurst: 10, changesPerSecond: 1 } },
    run(world) {
      world.put(PART, "a", "0");
      const client = world.connect().of(PART);
      begin(world, client, "a");
      for (let i = 1; i <= 200; i++) {
        world.put(PART, "a", String(i));
        expect(acceptAll(world, client)).toMatchObject([{ resources: [{ text: String(i) }] }]);
      }
      expect(counts(world)).toEqual({});
    },
  },
  {
    rules: ["S-LIM-2"],
    title: "takes more for a NACK: who rejects everything is slowed before who asks",
    world: { limits: { changeBurst: 100, changesPerSecond: 1, nackCost: 10 } },
    run(world) {
      world.put(PART, "a", "0");
      const peer = world.connect();
      const client = peer.of(PART);
      client.subscribe("a");
      let rejected = 0;
      for (let i = 1; i <= 100; i++) {
        world.run();
        for (const answer of client.rest()) {
          client.nack(answer, "no");
          rejected++;
        }
        world.put(PART, "a", String(i));
      }
      expect(rejected).toBeLessThan(15);
      expect([peer.streamOf(PART).stream.closed, peer.streamOf(PART).stream.paused]).toEqual([
        undefined,
        true,
      ]);
      world.clock.advance(20_000);
      world.run();
      expect(client.rest().at(-1)?.resources).toMatchObject([{ text: "100" }]);
    },
  },
  {
    rules: ["S-LIM-2", "S-SUB-1"],
    title:
      "answers the last of 3,000 growing lists without a wait: those before it were superseded and cost nothing",
    variants: sotwVariants,
    run(world) {
      // More of them grow than the burst has changes.
      world.put(PART, "n1500", "1");
      const client = world.connect().of(PART);
      begin(world, client, "n0");
      for (let i = 1; i <= 3_000; i++) {
        if (i % 2 === 0) client.subscribe(`n${i / 2}`);
        else client.change({});
      }
      expect(acceptAll(world, client).at(-1)?.names).toContain("n1500");
      expect(counts(world)).toEqual({});
    },
  },
  {
    rules: ["S-LIM-2"],
    title: "keeps the order of what a slowed stream says",
    world: { limits: { changeBurst: 4, changesPerSecond: 100 } },
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, name);
      const peer = world.connect();
      const client = peer.of(PART);
      for (let i = 0; i < 20; i++) {
        client.subscribe("a");
        client.unsubscribe("a");
        client.subscribe("b");
        client.unsubscribe("b");
      }
      client.subscribe("b");
      for (let tick = 0; tick < 200; tick++) {
        world.clock.advance(10);
        acceptAll(world, client);
      }
      expect(
        world
          .status()
          .flatMap(({ types }) => types)
          .map(({ subscriptions }) => subscriptions),
      ).toEqual([1]);
      world.put(PART, "a", "changed");
      world.put(PART, "b", "changed");
      expect(acceptAll(world, client).flatMap(({ names }) => names)).toEqual(["b"]);
    },
  },
  {
    rules: ["S-LIM-2"],
    title:
      "ends a slowed stream in order when its client says no more: everything before that is acted on",
    world: { limits: { changeBurst: 1, changesPerSecond: 1 } },
    run(world) {
      for (const name of ["a", "b"]) world.put(PART, name, name);
      const peer = world.connect();
      const client = peer.of(PART);
      for (const name of ["a", "b"]) client.subscribe(name);
      peer.streamOf(PART).stream.end();
      for (let second = 0; second < 5; second++) {
        world.run();
        world.clock.advance(1000);
      }
      expect(
        world.events.flatMap((event) => (event.kind === "subscribe" ? event.added : [])),
      ).toEqual(["a", "b"]);
      expect(peer.streamOf(PART).stream.closed).toEqual({ code: 0, message: "" });
      expect(world.clock.pending).toBe(0);
    },
  },
]);

runCases("what is kept for one stream", [
  {
    rules: ["S-LIM-3"],
    title:
      "is one encoded response per type and what changed, over 200 large updates that nobody reads",
    run(world) {
      const large = (round: number): string => `${round} ${"x".repeat(100_000)}`;
      world.put(PART, "a", large(0));
      const [paused, other] = [world.connect(), world.connect()];
      const { stream } = paused.streamOf(PART);
      for (const peer of [paused, other]) begin(world, peer.of(PART), "a");
      stream.fill();
      for (let round = 1; round <= 200; round++) {
        world.put(PART, "a", large(round));
        expect(acceptAll(world, other.of(PART))).toHaveLength(1);
      }
      expect(stream.unread).toBe(1);
      const [first] = paused.of(PART).rest();
      if (first !== undefined) paused.of(PART).ack(first);
      world.run();
      expect(stream.unread).toBe(0);
      stream.drain();
      world.run();
      expect(paused.of(PART).rest()).toMatchObject([{ resources: [{ text: large(200) }] }]);
    },
  },
]);

runCases("what one stream may ask for", [
  {
    rules: ["S-LIM-4"],
    title: "ends a stream with too many names, and counts it",
    world: { limits: { subscriptions: 3 } },
    run(world) {
      const [full, over] = [world.connect(), world.connect()];
      full.of(PART).subscribe("a", "b", "c");
      over.of(PART).subscribe("a", "b", "c", "d");
      world.run();
      expect(full.streamOf(PART).stream.closed).toBeUndefined();
      expect(over.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "more than 3 subscriptions of one type",
      });
      expect(counts(world)).toEqual({ subscriptions: 1 });
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream with too many globs, and takes others for those that were dropped",
    variants: deltaVariants,
    world: { limits: { globs: 2 } },
    run(world) {
      const peer = world.connect();
      const client = peer.of(PART);
      client.subscribe(
        "xdstp://a/test.Part/1/*",
        "xdstp://a/test.Part/2/*",
        "xdstp://a/test.Part/3",
      );
      client.change({ drop: ["xdstp://a/test.Part/1/*"] });
      client.subscribe("xdstp://a/test.Part/4/*", "xdstp://a/test.Part/4/*");
      expect(peer.streamOf(PART).stream.closed).toBeUndefined();
      client.subscribe("xdstp://a/test.Part/5/*");
      expect(peer.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "more than 2 globs of one type",
      });
      expect(counts(world)).toEqual({ globs: 1 });
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream with too many globs",
    variants: sotwVariants,
    world: { limits: { globs: 2 } },
    run(world) {
      const peer = world.connect();
      peer.of("test.Full").subscribe(..."123".split("").map((id) => `xdstp://a/test.Full/${id}/*`));
      expect(peer.streamOf("test.Full").stream.closed).toEqual({
        code: 8,
        message: "more than 2 globs of one type",
      });
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream with a name that is too long or has too many parameters, and counts it",
    run(world) {
      const names = [
        "n".repeat(2049),
        `xdstp://a/test.Part/n?${Array.from({ length: 33 }, (_, i) => `k${i}=v`).join("&")}`,
      ];
      for (const name of names) {
        const peer = world.connect();
        peer.of(PART).subscribe(name);
        expect(peer.streamOf(PART).stream.closed?.code).toBe(8);
      }
      expect(counts(world)).toEqual({ nameLength: 1, parameters: 1 });
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "counts a name in bytes, not in characters",
    run(world) {
      const [within, beyond] = [world.connect(), world.connect()];
      within.of(PART).subscribe(`${"€".repeat(682)}nn`);
      beyond.of(PART).subscribe("€".repeat(683));
      expect(within.streamOf(PART).stream.closed).toBeUndefined();
      expect(beyond.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "a name is longer than 2048 bytes",
      });
      expect(counts(world)).toEqual({ nameLength: 1 });
    },
  },
  {
    rules: ["S-LIM-4"],
    title: "ends a stream with too many types, and counts it",
    variants: ["delta/ads", "sotw/ads"],
    world: { limits: { types: 1 } },
    run(world) {
      const peer = world.connect();
      for (const typeUrl of [PART, OTHER_PART]) peer.of(typeUrl).subscribe("a");
      expect(peer.streamOf(PART).stream.closed).toEqual({
        code: 8,
        message: "more than 1 types on one stream",
      });
      expect(counts(world)).toEqual({ types: 1 });
    },
  },
]);
