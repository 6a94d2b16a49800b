import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const [a, b] = [flagName("a"), flagName("b")];

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  /** Subscribes to one more name. */
  const add = async (
    world: RelayWorld & { readonly client: ReturnType<RelayWorld["connect"]> },
    name: string,
  ): Promise<void> => {
    world.client.ask(flagUrl, ...(downstream === "delta" ? [name] : [a, name]));
    await world.pass(5_000);
  };

  /** Two servers in order; the client has `a` from the first one. */
  const useTwo = async (): Promise<
    RelayWorld & { readonly client: ReturnType<RelayWorld["connect"]> }
  > => {
    const world = useWorld({ upstream, servers: 2 });
    const client = world.connect(downstream);
    client.ask(flagUrl, a);
    await world.settle();
    world.up.reply(flagUrl, { version: "1", resources: [{ name: a, text: "first" }] });
    await world.settle();
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=first"]]);
    return Object.assign(world, { client });
  };

  it("a server that fails is not left while nothing is missing of it [B-RELAY-17]", async () => {
    const world = await useTwo();
    world.up.die();
    await world.pass(600_000);
    expect([world.client.read(), world.upstreams[1]?.calls]).toEqual([[], []]);
  });

  it("of two that disagree clients see the one that works, however often the other one comes near [B-RELAY-17]", async () => {
    const world = await useTwo();
    const [, second] = world.upstreams;
    world.up.die();
    await world.pass(60_000);
    await add(world, b);
    const say = (text: string): void => {
      second?.reply(flagUrl, {
        version: text,
        resources: [
          { name: a, text },
          { name: b, text },
        ],
      });
    };
    say("second");
    await world.settle();
    expect(
      world.client
        .take()
        .flatMap(({ shown }) => shown)
        .toSorted(),
    ).toEqual(["a=second", "b=second"]);
    // The relay can connect to it again and again, and it sends nothing.
    for (let n = 0; n < 5; n++) {
      world.up.down = false;
      await world.pass(130_000);
      if (world.up.stream.closed === undefined) world.up.die();
      await world.pass(130_000);
    }
    say("second");
    await world.settle();
    expect(world.client.read()).toEqual([]);
    world.up.down = false;
    await world.pass(130_000);
    world.up.reply(flagUrl, {
      version: "1",
      resources: [
        { name: a, text: "first" },
        { name: b, text: "first" },
      ],
    });
    await world.settle();
    expect(
      world.client
        .take()
        .flatMap(({ shown }) => shown)
        .toSorted(),
    ).toEqual(["a=first", "b=first"]);
    // From here on the relay stays with that server.
    if (second?.stream.closed === undefined) say("late");
    await world.pass(600_000);
    expect(world.client.read()).toEqual([]);
  });

  it("one that takes over with equal data causes no push [B-RELAY-18]", async () => {
    const world = await useTwo();
    world.up.die();
    await add(world, b);
    world.upstreams[1]?.reply(flagUrl, {
      version: "1",
      resources: [
        { name: a, text: "first" },
        { name: b, text: "new" },
      ],
    });
    await world.settle();
    expect(
      world.client.take().flatMap(({ resources }) => resources.map(({ name }) => name)),
    ).toEqual([b]);
  });

  it("the same server with equal data causes no push when it comes back [B-RELAY-18]", async () => {
    const world = await useTwo();
    world.up.stream.cancel({ code: 14, message: "restarted" });
    await world.pass(10_000);
    expect(world.up.calls).toHaveLength(2);
    world.up.reply(flagUrl, { version: "1", resources: [{ name: a, text: "first" }] });
    await world.settle();
    expect(world.client.read()).toEqual([]);
  });

  it("a server that is away is tried again after longer and longer, never in a tight loop, and its names are pending meanwhile [B-RELAY-18] [B-RELAY-13]", async () => {
    const world = useWorld({ upstream });
    world.up.down = true;
    const client = world.connect(downstream);
    client.ask(flagUrl, a);
    await world.pass(600_000);
    const attempts = world.events.filter(({ kind }) => kind === "opened").length;
    expect(attempts).toBeGreaterThan(5);
    expect(attempts).toBeLessThan(20);
    expect(client.read()).toEqual([]);
    world.up.down = false;
    for (let n = 0; n < 150 && world.up.calls.length === 0; n++) await world.pass(1_000);
    world.up.reply(flagUrl, { resources: [{ name: a, text: "1" }] });
    await world.settle();
    expect(client.take().map(({ shown }) => shown)).toEqual([["a=1"]]);
  });
});
