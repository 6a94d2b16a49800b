import { expect, describe, it } from "vitest";

import { flagName, flagUrl } from "../../test/flag.ts";
import { useWorld } from "../../test/relay-world.ts";
import type { Variant } from "../../../rollout/test/wire-bytes.ts";

const hourMs = 3_600_000;
const ways = (["delta", "sotw"] as const).flatMap((upstream) =>
  (["delta", "sotw"] as const).map((downstream) => [upstream, downstream] as const),
);

/**
 * Returns the resources that a client of a relay receives and the events of the relay, each with
 * its second. The wall clock is stepped each second.
 */
async function timeline(
  upstream: Variant,
  downstream: Variant,
  stepMs: number,
): Promise<readonly string[]> {
  const [lives, none] = [flagName("lives"), flagName("none")];
  const world = useWorld({ upstream });
  const begin = world.clock.now();
  const client = world.connect(downstream);
  const seen: string[] = [];
  let events = 0;
  const live = async (seconds: number): Promise<void> => {
    for (let n = 0; n < seconds; n++) {
      world.clock.stepWallTime(stepMs);
      await world.pass(1_000);
      const at = (world.clock.now() - begin) / 1_000;
      for (const { resources, removed, errors } of client.take())
        seen.push(
          `${at} got ${[
            ...resources.map(({ name, any }) => `${any === undefined ? "heartbeat " : ""}${name}`),
            ...removed.map((name) => `-${name}`),
            ...errors.map(({ name, code }) => `${name}!${code}`),
          ].join(" ")}`,
        );
      for (const { kind } of world.events.slice(events)) seen.push(`${at} ${kind}`);
      events = world.events.length;
    }
  };
  client.ask(flagUrl, lives, none);
  await world.settle();
  world.up.reply(flagUrl, { version: "1", resources: [{ name: lives, text: "1", ttlMs: 20_000 }] });
  // The heartbeats to the client, the 15 s after which a name without a response does not exist, and the end of the time to live.
  await live(40);
  world.up.die();
  world.up.down = false;
  // The back-off.
  await live(5);
  client.leave(flagUrl, lives, none);
  // The time after which the relay has no subscriptions upstream, so it closes the stream.
  await live(120);
  return seen.map((line) => line.replaceAll(flagName(""), ""));
}

describe.each(ways)("%s upstream, %s downstream", (upstream, downstream) => {
  it.each([
    ["back", -hourMs],
    ["forward", hourMs],
  ])(
    `a step of the wall clock by an hour %s each second changes no heartbeat, expiry, deadline or back-off of a relay (${upstream}, ${downstream}) [B-RELAY-12, C-MISS-4]`,
    async (_, stepMs) => {
      const steady = await timeline(upstream, downstream, 0);
      expect(steady).toEqual([
        "1 got lives",
        "1 ready",
        "1 opened",
        "1 accepted",
        "8 got heartbeat lives",
        "15 got heartbeat lives",
        downstream === "delta" ? "15 got -none" : "15 got none!5",
        "15 timeout",
        ...(downstream === "delta" ? ["20 got -lives"] : []),
        "41 closed",
        "41 opened",
        "56 timeout",
        "115 idle",
      ]);
      expect(await timeline(upstream, downstream, stepMs)).toEqual(steady);
    },
  );
});
