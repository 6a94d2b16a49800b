import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";

import { flagName } from "../../rollout/test/flag.ts";
import {
  noteChanges,
  openStore,
  put,
  store as keep,
  turn,
  useDir,
  useKept,
} from "../test/snapshots.ts";

const hourMs = 3_600_000;

describe.each([
  ["back", -hourMs],
  ["forward", hourMs],
])("a step of the wall clock by an hour %s", (direction, stepMs) => {
  it(`does not delay the writing of a snapshot (${direction}) [B-RELAY-18]`, async () => {
    const { changes, disk } = noteChanges();
    const clock = createFakeClock({ start: 10 * hourMs });
    const { store } = openStore(useDir(), { clock }, disk);
    clock.advance(1_000);
    await store.flush();
    changes.length = 0;
    keep(store, flagName("a"), "1");
    clock.stepWallTime(stepMs);
    clock.advance(199);
    await turn();
    expect(changes).toEqual([]);
    clock.advance(1);
    await turn();
    expect(changes).toHaveLength(1);
  });

  it(`does not delay the removal of old entries from a full snapshot (${direction}) [B-RELAY-10]`, async () => {
    const clock = createFakeClock({ start: 10 * hourMs });
    const { store, events } = openStore(useDir(), { clock, maxBytes: 1_000 });
    for (let nth = 0; nth < 50; nth++) keep(store, flagName(`ns/${nth}`), "1");
    clock.stepWallTime(stepMs);
    clock.advance(599_999);
    await store.flush();
    expect(events.filter(({ kind }) => kind === "snapshot-evicted")).toEqual([]);
    clock.advance(1);
    keep(store, flagName("a"), "1");
    await store.flush();
    expect(events.at(-1)?.kind).toBe("snapshot-evicted");
  });

  it(`while a relay restarts does not extend a resource beyond one time to live (${direction}) [B-RELAY-12]`, async () => {
    const [dir, name] = [useDir(), flagName("a")];
    const first = useKept(dir, { clock: createFakeClock({ start: 10 * hourMs }) });
    await first.watch(name);
    await first.upstream.sink.commit({
      put: [put(name, "1", { ttlMs: 20_000, expireMs: 20_000 })],
    });
    await first.close();
    const clock = createFakeClock({ start: 10 * hourMs });
    clock.stepWallTime(stepMs);
    const second = useKept(dir, { clock });
    await second.watch(name);
    expect(second.shown(name)).toBe(stepMs < 0 ? "~1" : "pending");
    clock.advance(20_000);
    expect(second.shown(name)).not.toContain("1");
  });
});

it("does not bring back what expired before a step of the wall clock and a restart [B-RELAY-12]", async () => {
  const [dir, name] = [useDir(), flagName("a")];
  const clock = createFakeClock({ start: 10 * hourMs });
  const first = useKept(dir, { clock });
  await first.watch(name);
  await first.upstream.sink.commit({
    put: [put(name, "1", { ttlMs: 20_000, expireMs: 20_000 })],
  });
  clock.advance(20_000);
  expect(first.shown(name)).not.toContain("1");
  await first.close();
  const later = createFakeClock({ start: 10 * hourMs });
  later.stepWallTime(-hourMs);
  const second = useKept(dir, { clock: later });
  await second.watch(name);
  expect(second.shown(name)).toBe("pending");
});
