import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const [a, b] = [flagName("a"), flagName("b")];
const DAY = 86_400_000;

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  const useHeld = async (): Promise<
    RelayWorld & { readonly client: ReturnType<RelayWorld["connect"]> }
  > => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, a, b);
    await world.settle();
    world.up.reply(flagUrl, {
      version: "1",
      resources: [
        { name: a, text: "1" },
        { name: b, text: "1" },
      ],
    });
    await world.settle();
    client.take();
    await world.settle();
    world.up.requests();
    return Object.assign(world, { client });
  };

  it("what the last client gives up goes upstream after 60 s [B-RELAY-8]", async () => {
    const world = await useHeld();
    world.client.leave(flagUrl, b);
    await world.pass(59_999);
    expect(world.up.requests()).toEqual([]);
    await world.pass(1);
    const [request, ...more] = world.up.requests();
    expect([upstream === "delta" ? request?.dropped : request?.names, more]).toEqual([
      upstream === "delta" ? [b] : [a],
      [],
    ]);
    expect(world.relay.cache.counters.resources).toBe(1);
  });

  it("a client that restarts within that time changes nothing upstream, and is served at once [B-RELAY-8]", async () => {
    const world = await useHeld();
    world.client.stream.cancel();
    await world.pass(40_000);
    const again = world.connect(downstream);
    again.ask(flagUrl, a, b);
    await world.settle();
    expect(again.take().map(({ shown }) => shown.toSorted())).toEqual([["a=1", "b=1"]]);
    await world.pass(600_000);
    expect([world.up.requests(), world.up.calls.length]).toEqual([[], 1]);
  });

  it("one of two that goes changes nothing upstream [B-RELAY-8]", async () => {
    const world = await useHeld();
    const other = world.connect(downstream);
    other.ask(flagUrl, a, b);
    await world.settle();
    other.take();
    world.client.stream.cancel();
    await world.pass(DAY);
    expect([world.up.requests(), world.up.calls.length]).toEqual([[], 1]);
  });

  it("however long nothing comes, what is held stays, and goes with a removal upstream or the last interest [B-RELAY-10]", async () => {
    const world = await useHeld();
    await world.pass(7 * DAY);
    const late = world.connect(downstream);
    late.ask(flagUrl, a, b);
    await world.settle();
    expect(late.take().map(({ shown }) => shown.toSorted())).toEqual([["a=1", "b=1"]]);
    world.up.die();
    await world.pass(7 * DAY);
    const later = world.connect(downstream);
    later.ask(flagUrl, a, b);
    await world.settle();
    expect(later.take().map(({ shown }) => shown.toSorted())).toEqual([["a=1", "b=1"]]);
    for (const client of [world.client, late, later]) {
      expect(client.read()).toEqual([]);
      client.stream.cancel();
    }
    await world.pass(60_000);
    expect(world.relay.cache.counters.resources).toBe(0);
  });
});
