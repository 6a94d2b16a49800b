import { createFakeClock } from "@xdstp/testing";
import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { openStore, stateOf, store as put, useDir } from "../test/snapshots.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

const glob = (nth: number): string => flagName(`ns-${nth}/*`);
const settle = (store: SnapshotStore, name: string): void => {
  store.settle({ space: "", typeUrl: flagUrl, interest: { name } });
};

it("of collections that nobody asks for the oldest go too, though there is nothing in them [B-RELAY-10]", async () => {
  const dir = useDir();
  const clock = createFakeClock({ start: 0 });
  const { store, events } = openStore(dir, { clock, maxBytes: 3_000 });
  store.subscribers.add((one) => "interest" in one && one.interest.name === glob(0));
  for (let nth = 0; nth < 50; nth++) {
    clock.advance(1_000);
    settle(store, glob(nth));
  }
  await store.flush();
  clock.advance(600_000);
  settle(store, glob(50));
  await store.flush();
  const left = Array.from(store.index.collections(), ({ interest: { name } }) => name);
  expect([
    left.includes(glob(0)),
    left.includes(glob(1)),
    left.includes(glob(49)),
    left.includes(glob(50)),
  ]).toEqual([true, false, true, true]);
  expect([store.index.bytes <= 3_000, events.at(-1)?.kind]).toEqual([true, "snapshot-evicted"]);
  const state = stateOf(store);
  await store.close();
  expect(stateOf(openStore(dir).store)).toEqual(state);
});

it("where all is asked for and more than may be, who asks for it is not gone through at each writing", async () => {
  const clock = createFakeClock({ start: 0 });
  const { store } = openStore(useDir(), { clock, maxBytes: 1_000 });
  let looks = 0;
  store.subscribers.add(() => {
    looks++;
    return true;
  });
  for (let nth = 0; nth < 100; nth++) put(store, flagName(`ns/${nth}`), "1");
  clock.advance(600_000);
  for (let round = 0; round < 50; round++) {
    clock.advance(200);
    put(store, flagName("a"), `${round}`);
    await store.flush();
  }
  expect(looks).toBeLessThan(200);
});
