import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { put, turn, useDir, useKept, type Kept } from "../test/snapshots.ts";

const glob = flagName("ns/*");
const names = Array.from({ length: 1_800 }, (_, n) => flagName(`ns/${String(n).padStart(4, "0")}`));
const all = [{ typeUrl: flagUrl, interest: { name: glob } }];

/**
 * A relay that was restarted with all resources in its snapshot, and gets the subscriptions to all
 * of them in this turn.
 */
async function restarted(): Promise<Kept> {
  const dir = useDir();
  const first = useKept(dir);
  await first.watch(glob);
  await first.upstream.sink.commit({ put: names.map((name) => put(name)), settled: all });
  await first.close();
  const relay = useKept(dir);
  relay.cache.topic(flagUrl, { name: glob }).watch({ wake: () => undefined });
  await Promise.resolve();
  return relay;
}

async function turns(): Promise<void> {
  for (let n = 0; n < 6; n++) await turn();
}

it("many resources are restored in several turns, and complete only with the last [B-RELAY-9]", async () => {
  const relay = await restarted();
  const topic = relay.cache.topic(flagUrl, { name: glob });
  const early = topic.members().length;
  expect([early > 0, early < names.length, topic.settled]).toEqual([true, true, false]);
  await turns();
  expect([topic.members().length, topic.settled, topic.stale === undefined]).toEqual([
    names.length,
    true,
    false,
  ]);
});

it("many names are restored in several turns too, and each is served with its own [B-RELAY-9]", async () => {
  const relay = await restarted();
  await turns();
  await relay.close();
  const again = useKept(relay.dir);
  const topics = names.map((name) => again.cache.topic(flagUrl, { name }));
  for (const topic of topics) topic.watch({ wake: () => undefined });
  await Promise.resolve();
  const restored = (): number => topics.filter(({ settled }) => settled).length;
  const counts = [restored()];
  for (let n = 0; n < 4; n++) {
    await turn();
    counts.push(restored());
  }
  expect(counts).toEqual([500, 1_000, 1_500, 1_800, 1_800]);
  expect(topics.every(({ stale }) => stale !== undefined)).toBe(true);
});

it("what upstream says between these turns is not replaced by what is older [B-RELAY-9] [B-RELAY-10]", async () => {
  const relay = await restarted();
  const [gone, changed] = [names.at(-1) ?? "", names.at(-2) ?? ""];
  await relay.upstream.sink.commit({
    put: [put(changed, "new")],
    remove: [{ typeUrl: flagUrl, name: gone }],
  });
  await turns();
  const members = relay.members(glob);
  expect([
    members.length,
    members.includes("1798=new"),
    members.some((member) => member.startsWith("1799")),
  ]).toEqual([names.length - 1, true, false]);
});

it("what upstream says completely between these turns is all there is [B-RELAY-9]", async () => {
  const relay = await restarted();
  await relay.upstream.sink.commit({ put: [put(names[0] ?? "", "new")], complete: all });
  await turns();
  expect([relay.members(glob), relay.cache.topic(flagUrl, { name: glob }).stale]).toEqual([
    ["0000=new"],
    undefined,
  ]);
});

it("nothing more is read once the relay is closed", async () => {
  const relay = await restarted();
  const topic = relay.cache.topic(flagUrl, { name: glob });
  const early = topic.members().length;
  await relay.close();
  await turns();
  expect(topic.members().length).toBeLessThanOrEqual(early);
});
