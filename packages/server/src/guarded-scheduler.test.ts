import { createScheduler, type Drainable } from "@xdstp/protocol/server";
import { createManualScheduler } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createGuardedScheduler } from "./guarded-scheduler.ts";

describe("createGuardedScheduler()", () => {
  it("serves the others when one throws, also in the same slice, and says who it was", () => {
    const turns = createManualScheduler();
    const faults: (readonly [Drainable, unknown])[] = [];
    const scheduler = createGuardedScheduler(
      createScheduler({ slice: 2, later: turns.later }),
      (drainable, error) => {
        faults.push([drainable, error]);
      },
    );
    const served: number[] = [];
    const drainable = (id: number): Drainable => ({
      queued: false,
      drain() {
        served.push(id);
        if (id % 2 === 0) throw new Error(String(id));
      },
    });
    const all = [0, 1, 2, 3, 4].map(drainable);
    for (const one of all) scheduler.add(one);
    turns.run();
    expect(served).toEqual([0, 1, 2, 3, 4]);
    expect(faults).toEqual([0, 2, 4].map((id) => [all[id], new Error(String(id))]));
  });

  it("queues once before a turn, and again within it", () => {
    const turns = createManualScheduler();
    const scheduler = createGuardedScheduler(
      createScheduler({ later: turns.later }),
      () => undefined,
    );
    let drains = 0;
    const again: Drainable = {
      queued: false,
      drain() {
        if (++drains === 1) scheduler.add(again);
      },
    };
    scheduler.add(again);
    scheduler.add(again);
    expect(again.queued).toBe(true);
    turns.run();
    expect(drains).toBe(2);
    expect(again.queued).toBe(false);
  });
});
