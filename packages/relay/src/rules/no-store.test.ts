import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import { anyOf, type WireResource } from "../../../rollout/test/wire-bytes.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const [a, b] = [flagName("a"), flagName("b")];
const brief = (name: string, text: string): WireResource => ({
  name,
  version: text,
  any: anyOf(flagUrl, Buffer.from(text)),
  noStore: true,
});

describe.each(ways)(
  "%s upstream, %s downstream: what has `do_not_cache`",
  (upstream, downstream) => {
    /** One client has the resource. */
    const useHeld = async (): Promise<
      RelayWorld & { readonly client: ReturnType<RelayWorld["connect"]> }
    > => {
      const world = useWorld({ upstream });
      const client = world.connect(downstream);
      client.ask(flagUrl, a, b);
      await world.settle();
      world.up.reply(flagUrl, { version: "1", resources: [brief(a, "1"), { name: b, text: "1" }] });
      await world.settle();
      expect(
        client.take().flatMap(({ resources }) => resources.map(({ noStore }) => noStore)),
      ).toEqual([true, undefined]);
      await world.settle();
      world.up.requests();
      return Object.assign(world, { client });
    };

    it("is asked for anew when a second client asks, who has the answer to that; the first is not told what it has [B-RELAY-11]", async () => {
      const world = await useHeld();
      const late = world.connect(downstream);
      late.ask(flagUrl, a, b);
      await world.settle();
      expect(late.take().map(({ shown }) => shown)).toEqual([["b=1"]]);
      // The relay unsubscribes the name first, so that the SotW server sees it added (S-SUB-3).
      expect(world.up.requests().map(({ names }) => names)).toEqual(
        upstream === "delta" ? [[a]] : [[b], [b, a]],
      );
      world.up.reply(flagUrl, { version: "1", resources: [brief(a, "1")] });
      await world.settle();
      expect([world.client, late].map((one) => one.take().map(({ shown }) => shown))).toEqual([
        [],
        [["a=1"]],
      ]);
    });

    it("is one request for all who ask before it is answered, and what has changed goes to everybody [B-RELAY-11]", async () => {
      const world = await useHeld();
      const late = Array.from({ length: 3 }, () => world.connect(downstream));
      for (const client of late.slice(1)) client.ask(flagUrl, a);
      await world.settle();
      late[0]?.ask(flagUrl, a);
      await world.settle();
      expect(world.up.requests().filter(({ names }) => names.includes(a))).toHaveLength(1);
      world.up.reply(flagUrl, { version: "2", resources: [brief(a, "2")] });
      await world.settle();
      expect([world.client, ...late].map((one) => one.take().map(({ shown }) => shown))).toEqual(
        Array(4).fill([["a=2"]]),
      );
    });

    it("is gone, and given up upstream, as soon as the last client has left it [B-RELAY-11] [B-RELAY-8]", async () => {
      const world = await useHeld();
      world.client.leave(flagUrl, a, b);
      await world.settle();
      const [request] = world.up.requests();
      expect([
        upstream === "delta" ? request?.dropped : request?.names,
        world.relay.cache.counters.resources,
      ]).toEqual([upstream === "delta" ? [a] : [b], 1]);
      const again = world.connect(downstream);
      again.ask(flagUrl, a, b);
      await world.settle();
      expect([
        again.take().map(({ shown }) => shown),
        world.up.requests().at(-1)?.names.includes(a),
      ]).toEqual([[["b=1"]], true]);
      world.up.reply(flagUrl, { version: "1", resources: [brief(a, "1")] });
      await world.settle();
      expect(again.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
    });

    it("is pending for who asks while upstream is away, and nothing is taken from who has it [B-RELAY-11] [B-RELAY-9]", async () => {
      const world = await useHeld();
      world.up.die();
      await world.pass(30_000);
      const late = world.connect(downstream);
      late.ask(flagUrl, a, b);
      await world.pass(30_000);
      expect(
        [world.client, late].map((one) =>
          one.take().flatMap(({ shown, removed }) => [...shown, ...removed]),
        ),
      ).toEqual([[], ["b=1"]]);
      world.up.down = false;
      while (world.up.calls.length === 1) await world.pass(1_000);
      world.up.reply(flagUrl, { version: "1", resources: [brief(a, "1"), { name: b, text: "1" }] });
      await world.settle();
      expect([world.client, late].map((one) => one.take().flatMap(({ shown }) => shown))).toEqual([
        [],
        ["a=1"],
      ]);
    });
  },
);

it.each([
  ["a glob", "delta", flagName("*"), [a, b]],
  ["everything", "delta", "*", ["a", "b"]],
  ["everything", "sotw", "*", ["a", "b"]],
] as const)(
  "%s, in which something has `do_not_cache`, is asked for anew as a whole (%s downstream) [B-RELAY-11]",
  async (_, downstream, interest, names) => {
    const world = useWorld({ relay: { opaqueKey: [] } });
    const client = world.connect(downstream);
    client.ask(flagUrl, interest);
    await world.settle();
    const say = async (): Promise<void> => {
      world.up.reply(flagUrl, {
        version: "1",
        resources: [brief(names[0], "1"), { name: names[1], text: "1" }],
      });
      await world.pass(200);
    };
    await say();
    client.take();
    await world.settle();
    world.up.requests();
    const late = world.connect(downstream);
    late.ask(flagUrl, interest);
    await world.settle();
    expect([late.read(), world.up.requests().map((request) => request.names)]).toEqual([
      [],
      [[interest]],
    ]);
    await say();
    expect([client, late].map((one) => one.take().map(({ shown }) => shown.toSorted()))).toEqual([
      [],
      [["a=1", "b=1"]],
    ]);
    for (const one of [client, late]) one.stream.cancel();
    await world.settle();
    expect(world.relay.cache.counters.resources).toBe(0);
  },
);
