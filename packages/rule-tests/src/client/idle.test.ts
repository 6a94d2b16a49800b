import { type Connect, createClientContext } from "@xdstp/protocol/client";
import { createFakeClock } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { describe, expect, it } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { createClientWorld, node, turn, type ClientWorld } from "./harness/client-world.ts";
import { createScriptedServer } from "./harness/scripted-server.ts";

const kinds = ({ events }: ClientWorld): readonly string[] =>
  events
    .map(({ kind }) => kind)
    .filter((kind) => kind === "opened" || kind === "closed" || kind === "idle");

describe.each(["delta", "sotw"] as const)(
  "a stream of which all names are unsubscribed (%s)",
  (variant) => {
    it("ends in order after 10 s, and leaves nothing behind; it is not a failure, and nobody is told of an error [C-STREAM-14]", async () => {
      const world = createClientWorld(variant);
      const { ask, server, clock, feed } = world;
      const [a, x] = [...(await ask(PART, "a")), ...(await ask(FULL, "x"))];
      server.reply(PART, { resources: [{ name: "a", text: "1" }] });
      a?.stop();
      await turn();
      clock.advance(20_000);
      expect(server.raw.connected).toBe(true); // x is wanted
      x?.stop();
      await turn();
      clock.advance(9_999);
      expect(server.raw.connected).toBe(true);
      clock.advance(1);
      expect([
        server.raw.closed?.code,
        feed.status().connected,
        feed.status().counts.failures,
        feed.status().lastEnd,
      ]).toEqual([0, false, 0, undefined]);
      expect([kinds(world), clock.pending]).toEqual([["opened", "idle"], 0]);
    });

    it("is kept by what is wanted within the time, and the time begins anew [C-STREAM-14]", async () => {
      const { ask, server, clock } = createClientWorld(variant);
      const [a] = await ask(PART, "a");
      a?.stop();
      await turn();
      clock.advance(9_999);
      const [b] = await ask(FULL, "b");
      clock.advance(60_000);
      expect(server.raw.connected).toBe(true);
      b?.stop();
      await turn();
      clock.advance(9_999);
      expect([server.raw.connected, server.raw.streams]).toEqual([true, 1]);
      clock.advance(1);
      expect(server.raw.connected).toBe(false);
    });

    it("is followed at once by another when something is wanted, which begins as any other: the node, and the versions that are held [C-STREAM-14, C-NODE-1, C-VER-6]", async () => {
      const world = createClientWorld(variant);
      const { ask, server, clock } = world;
      const [a] = await ask(PART, "a");
      server.reply(PART, { version: "v1", resources: [{ name: "a", text: "1" }] });
      a?.stop();
      await turn();
      server.rest();
      clock.advance(10_000);
      const [again] = await ask(PART, "a");
      const asked = server.next();
      expect([server.raw.streams, asked.names, asked.nonce, asked.node, asked.version]).toEqual([
        2,
        ["a"],
        "",
        "me",
        variant === "delta" ? "" : "v1",
      ]);
      server.reply(PART, { version: "v1", resources: [{ name: "a", text: "1" }] });
      expect([again?.now, kinds(world)]).toEqual(["a=1", ["opened", "idle", "opened"]]);
    });

    it("ends also where the server was never reached, and where a failure was told before; waits between streams stay as they were [C-STREAM-14, C-RECON-1]", async () => {
      const world = createClientWorld(variant);
      const { ask, server, clock, feed, events } = world;
      const [a] = await ask(PART, "a");
      server.raw.close();
      server.raw.delay();
      clock.advance(1_000);
      a?.stop();
      await turn();
      clock.advance(10_000);
      expect([kinds(world), feed.status().counts.failures]).toEqual([
        ["opened", "closed", "opened", "idle"],
        1,
      ]);
      const [again] = await ask(PART, "a");
      expect([server.raw.streams, again?.now]).toEqual([3, "pending ~UNAVAILABLE"]);
      server.raw.reach();
      server.raw.close();
      expect(events.at(-1)).toMatchObject({ kind: "closed", retryMs: 1_600 });
    });

    it("nothing is left to end where the server has ended it first [C-STREAM-14]", async () => {
      const world = createClientWorld(variant);
      const { ask, server, clock } = world;
      const [a] = await ask(PART, "a");
      a?.stop();
      await turn();
      server.raw.close();
      clock.advance(60_000);
      expect([kinds(world), server.raw.streams, clock.pending]).toEqual([
        ["opened", "closed"],
        1,
        0,
      ]);
    });

    it("what was handed over and not taken in before its end is nobody's, however long the wire takes to end [C-STREAM-14, B-NONCE-2]", async () => {
      const { raw, ...server } = createScriptedServer(variant);
      const connect: Connect = (handler) => ({
        ...raw.connect(handler),
        pause: () => undefined,
        close: () => undefined,
      }); // neither pauses nor ends
      const [clock, abort] = [createFakeClock(), new AbortController()];
      const feed = (variant === "delta" ? createDeltaClient : createSotwClient)(
        createClientContext({ connect, node, clock }),
      );
      const { promise: taken, resolve: release }: PromiseWithResolvers<void> =
        Promise.withResolvers();
      const run = feed.run(
        { commit: () => ({ revision: 1, taken }), held: () => [], unavailable: () => undefined },
        abort.signal,
      );
      feed.want(PART, [{ name: "a" }], []);
      await turn();
      for (const text of ["1", "2"]) server.reply(PART, { resources: [{ name: "a", text }] });
      feed.want(PART, [], [{ name: "a" }]);
      clock.advance(10_000);
      feed.want(PART, [{ name: "a" }], []);
      await turn();
      release();
      await turn();
      expect([raw.streams, feed.status().counts.responses, server.next().nonce]).toEqual([
        2,
        1,
        "",
      ]);
      expect(server.rest()).toEqual([]);
      abort.abort();
      await run;
    });

    it("stays where it is told to", async () => {
      const { ask, server, clock } = createClientWorld(variant, { client: { idleMs: Infinity } });
      const [a] = await ask(PART, "a");
      a?.stop();
      await turn();
      clock.advance(1_000_000);
      expect(server.raw.connected).toBe(true);
    });
  },
);
