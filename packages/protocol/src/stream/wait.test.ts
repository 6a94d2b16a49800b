import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/manual-clock.ts";
import { createRepairs } from "./repairs.ts";
import { Wait } from "./wait.ts";

function useWait(): {
  readonly clock: ManualClock;
  readonly wait: Wait;
  readonly told: () => number;
} {
  const clock = createManualClock();
  let count = 0;
  return {
    clock,
    wait: new Wait({ clock, waits: createRepairs(clock, 15_000) }, () => {
      count++;
    }),
    told: () => count,
  };
}

describe("Wait", () => {
  it("expires once, when the limit has passed [S-ORD-4]", () => {
    const { clock, wait, told } = useWait();
    wait.begin();
    clock.advance(14_999);
    expect([wait.expired, told()]).toEqual([false, 0]);
    clock.advance(1);
    expect([wait.expired, told()]).toEqual([true, 1]);
    wait.begin();
    clock.advance(60_000);
    expect(told()).toBe(1);
  });

  it("counts from the first of several beginnings", () => {
    const { clock, wait, told } = useWait();
    wait.begin();
    clock.advance(10_000);
    wait.begin();
    clock.advance(5_000);
    expect(told()).toBe(1);
  });

  it("counts anew after an end", () => {
    const { clock, wait, told } = useWait();
    wait.begin();
    clock.advance(10_000);
    wait.end();
    clock.advance(10_000);
    wait.begin();
    clock.advance(14_999);
    expect([wait.expired, told()]).toEqual([false, 0]);
    clock.advance(1);
    expect(told()).toBe(1);
    wait.end();
    expect(wait.expired).toBe(false);
  });
});
