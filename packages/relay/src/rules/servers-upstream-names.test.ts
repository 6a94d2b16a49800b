import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import { anyOf, type Variant } from "../../../rollout/test/wire-bytes.ts";

const RESOURCE_EXHAUSTED = 8;
const [a, b, c] = ["a", "b", "c"].map(flagName) as [string, string, string];
const otherName = (path: string): string => `xdstp://other/acme.v1.Flag/${path}`;

/** Returns the names that each server upstream was last asked for. */
const askedOf = (world: RelayWorld): readonly (readonly string[])[] =>
  world.upstreams.map(({ calls }) =>
    calls.flatMap((call) => call.requests().flatMap(({ names }) => names)),
  );

describe.each<Variant>(["delta", "sotw"])(
  "names beyond what each of several servers upstream accepts (%s)",
  (upstream) => {
    it("are counted at each server by itself, and the event says which one is full [S-LIM-4]", async () => {
      const world = useWorld({
        upstream,
        servers: 2,
        authorities: { acme: 0, other: 1 },
        relay: { upstreamNames: 2 },
      });
      const client = world.connect("delta");
      client.ask(flagUrl, a, b, otherName("a"), otherName("b"));
      await world.settle();
      expect([askedOf(world), client.take()]).toEqual([
        [
          [a, b],
          [otherName("a"), otherName("b")],
        ],
        [],
      ]);
      client.ask(flagUrl, otherName("c"));
      await world.settle();
      expect(client.take().flatMap(({ errors }) => errors)).toMatchObject([
        { name: otherName("c"), code: RESOURCE_EXHAUSTED },
      ]);
      expect([
        askedOf(world),
        world.events.filter(({ kind }) => kind === "upstream-full"),
      ]).toMatchObject([[[], []], [{ server: "up-1", typeUrl: flagUrl, names: [otherName("c")] }]]);
    });

    it("do not bring the next server into use, which has the same limit when it is [S-LIM-4] [C-GRPC-6]", async () => {
      const world = useWorld({ upstream, servers: 2, relay: { upstreamNames: 2 } });
      const client = world.connect("delta");
      client.ask(flagUrl, a, b, c);
      await world.settle();
      expect([askedOf(world), client.take().flatMap(({ errors }) => errors)]).toMatchObject([
        [[a, b], []],
        [{ name: c, code: RESOURCE_EXHAUSTED }],
      ]);
      world.up.die();
      await world.pass(5_000);
      expect(askedOf(world)[1]).toEqual([a, b]);
      world.upstreams[1]?.reply(flagUrl, {
        resources: [
          { name: a, text: "second" },
          { name: b, text: "second" },
        ],
      });
      await world.settle();
      expect(client.take().flatMap(({ shown }) => shown)).toEqual(["a=second", "b=second"]);
    });

    it("are served by the next server, where that has room for them [S-LIM-4] [C-GRPC-6]", async () => {
      const world = useWorld({ upstream, servers: 2, relay: { upstreamNames: 2, lingerMs: 0 } });
      const client = world.connect("delta");
      client.ask(flagUrl, a, b, c);
      await world.settle();
      world.up.reply(flagUrl, {
        resources: [
          { name: a, text: "first" },
          { name: b, text: "first" },
        ],
      });
      await world.settle();
      expect(
        client.take().flatMap(({ shown, errors }) => [...shown, ...errors.map(({ name }) => name)]),
      ).toEqual([c]);
      await world.settle();
      expect(client.take().flatMap(({ shown }) => shown)).toEqual(["a=first", "b=first"]);
      world.up.die();
      client.leave(flagUrl, a);
      await world.pass(5_000);
      expect(askedOf(world)[1]).toEqual([b, c]);
      world.upstreams[1]?.reply(flagUrl, {
        resources: [
          { name: b, text: "second" },
          { name: c, text: "second" },
        ],
      });
      await world.settle();
      expect(client.take().flatMap(({ shown }) => shown)).toEqual(["b=second", "c=second"]);
    });

    it("keep their room while they are asked for again, and give it back once when they end [S-LIM-4] [B-RELAY-11]", async () => {
      const world = useWorld({ upstream, relay: { upstreamNames: 1, lingerMs: 0 } });
      const clients = Array.from({ length: 3 }, () => world.connect("delta"));
      for (const client of clients) {
        client.ask(flagUrl, a);
        await world.settle();
        world.up.reply(flagUrl, {
          resources: [
            { name: a, version: "1", any: anyOf(flagUrl, Buffer.from("1")), noStore: true },
          ],
        });
        await world.settle();
      }
      expect(clients.flatMap((client) => client.take().flatMap(({ shown }) => shown))).toEqual([
        "a=1",
        "a=1",
        "a=1",
      ]);
      const late = world.connect("delta");
      late.ask(flagUrl, b, c);
      await world.pass(5_000);
      askedOf(world);
      for (const client of clients) client.stream.cancel();
      await world.pass(20_000);
      expect(new Set(askedOf(world).flat())).toEqual(new Set([b]));
    });

    it("are reported again when a server can be reached again [S-LIM-4]", async () => {
      const world = useWorld({ upstream, relay: { upstreamNames: 1 } });
      const waiting = { name: b };
      const client = world.connect("delta");
      client.ask(flagUrl, a, b);
      await world.settle();
      const why = (): string | undefined => world.relay.cache.topic(flagUrl, waiting).stale?.code;
      const before = [why(), client.take().flatMap(({ errors }) => errors)];
      world.up.die();
      await world.pass(5_000);
      world.up.down = false;
      await world.pass(130_000);
      client.take();
      await world.settle();
      world.up.reply(flagUrl, { resources: [{ name: a, text: "1" }] });
      await world.settle();
      expect(before).toMatchObject(["RESOURCE_EXHAUSTED", [{ name: b, code: RESOURCE_EXHAUSTED }]]);
      expect([why(), client.take().flatMap(({ shown }) => shown)]).toEqual([
        "RESOURCE_EXHAUSTED",
        ["a=1"],
      ]);
      expect(world.events.filter(({ kind }) => kind === "upstream-full")).toHaveLength(1);
    });

    it("wait no more when the relay has closed [S-LIM-4]", async () => {
      const world = useWorld({ upstream, relay: { upstreamNames: 1, lingerMs: 0 } });
      const client = world.connect("delta");
      client.ask(flagUrl, a, b);
      await world.settle();
      client.leave(flagUrl, a);
      await world.pass(10);
      const roomBack = world.clock.next ?? Infinity;
      await world.relay.close();
      await world.settle();
      expect(world.clock.next).toBeGreaterThan(roomBack);
    });
  },
);
