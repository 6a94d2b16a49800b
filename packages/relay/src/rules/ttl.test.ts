import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld, type RelayWorld } from "../../test/relay-world.ts";
import type { Answer } from "../../../rollout/test/world-client.ts";

const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);
const name = flagName("a");
const TTL = 60_000;

const heartbeat = { name, version: "1", ttlMs: TTL };

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  /**
   * A client that has a resource with a TTL, and the responses that it received in each second
   * since.
   */
  const useHeld = async (): Promise<
    RelayWorld & {
      readonly client: ReturnType<RelayWorld["connect"]>;
      readonly live: (
        seconds: number,
      ) => Promise<readonly (readonly [at: number, answer: Answer])[]>;
    }
  > => {
    const world = useWorld({ upstream });
    const client = world.connect(downstream);
    client.ask(flagUrl, name);
    await world.settle();
    world.up.reply(flagUrl, { version: "1", resources: [{ name, text: "1", ttlMs: TTL }] });
    await world.settle();
    const begin = world.clock.now();
    expect(client.take().map(({ resources }) => resources.map(({ ttlMs }) => ttlMs))).toEqual([
      [TTL],
    ]);
    const live = async (seconds: number): Promise<readonly (readonly [number, Answer])[]> => {
      const seen: (readonly [number, Answer])[] = [];
      for (let n = 0; n < seconds; n++) {
        await world.pass(1_000);
        for (const answer of client.take())
          seen.push([(world.clock.now() - begin) / 1_000, answer]);
      }
      return seen;
    };
    return Object.assign(world, { client, live });
  };

  it("a client that comes late has the whole TTL, in the same bytes as the others [B-RELAY-12]", async () => {
    const world = await useHeld();
    await world.live(40);
    const late = world.connect(downstream);
    late.ask(flagUrl, name);
    await world.settle();
    expect(
      late.take().map(({ shown, resources }) => [shown, resources.map(({ ttlMs }) => ttlMs)]),
    ).toEqual([[["a=1"], [TTL]]]);
  });

  it("heartbeats go on as long as upstream refreshes, with the whole TTL, and no content [B-RELAY-12]", async () => {
    const world = await useHeld();
    const beats: Answer[] = [];
    for (let n = 0; n < 10; n++) {
      world.up.reply(flagUrl, { version: "1", resources: [heartbeat] });
      beats.push(...(await world.live(30)).map(([, answer]) => answer));
    }
    expect(beats.length).toBeGreaterThanOrEqual(5);
    expect(
      beats.every(({ resources }) =>
        resources.every(({ any, ttlMs }) => any === undefined && ttlMs === TTL),
      ),
    ).toBe(true);
    expect(world.relay.cache.counters.resources).toBe(1);
  });

  it.each(["dies", "falls silent"] as const)(
    "when upstream %s the resource ends at the relay after its TTL, and at the clients at most one TTL later [B-RELAY-12]",
    async (how) => {
      const world = await useHeld();
      await world.live(10);
      world.up.reply(flagUrl, { version: "1", resources: [heartbeat] });
      await world.settle();
      if (how === "dies") world.up.die();
      const seen = await world.live(300);
      expect(world.relay.cache.counters.resources).toBe(0);
      const alive = seen.filter(([, { resources }]) => resources.length > 0).map(([at]) => at);
      // The TTL was refreshed after 10 s, so the resource expires here after 70 s; the last
      // heartbeat came earlier.
      expect(Math.max(...alive)).toBeLessThanOrEqual(70);
      expect(seen.flatMap(([at, { removed }]) => removed.map((one) => [at, one]))).toEqual(
        downstream === "delta" ? [[70, name]] : [],
      );
      const late = world.connect(downstream);
      late.ask(flagUrl, name);
      await world.settle();
      expect(late.take().flatMap(({ resources }) => resources)).toEqual([]);
    },
  );
});
