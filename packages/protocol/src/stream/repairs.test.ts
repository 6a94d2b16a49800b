import { describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../test/manual-clock.ts";
import { createRepairs, type Repairable } from "./repairs.ts";

/** A type that has waited for an answer since a time. */
class Waiting implements Repairable {
  repairQueued = false;
  unansweredSince: number | undefined;
  readonly repairs: number[] = [];
  readonly #clock: ManualClock;

  constructor(clock: ManualClock, since: number | undefined = clock.now()) {
    this.#clock = clock;
    this.unansweredSince = since;
  }

  repair(): void {
    this.repairs.push(this.#clock.now());
  }
}

describe("createRepairs()", () => {
  it("repairs once the limit has passed without an answer", () => {
    const clock = createManualClock();
    const waiting = new Waiting(clock);
    createRepairs(clock, 5000).watch(waiting);
    clock.advance(4999);
    expect(waiting.repairs).toEqual([]);
    clock.advance(1);
    expect(waiting.repairs).toEqual([5000]);
    clock.advance(60_000);
    expect(waiting.repairs).toEqual([5000]);
    expect(clock.timers).toBe(0);
  });

  it("does nothing for who was answered meanwhile, or waits for nothing", () => {
    const clock = createManualClock();
    const repairs = createRepairs(clock, 5000);
    const answered = new Waiting(clock);
    repairs.watch(answered);
    answered.unansweredSince = undefined;
    const never = new Waiting(clock);
    never.unansweredSince = undefined;
    repairs.watch(never);
    expect(never.repairQueued).toBe(false);
    clock.advance(60_000);
    expect([...answered.repairs, ...never.repairs]).toEqual([]);
    expect(answered.repairQueued).toBe(false);
  });

  it("waits anew for a newer response", () => {
    const clock = createManualClock();
    const repairs = createRepairs(clock, 5000);
    const waiting = new Waiting(clock);
    repairs.watch(waiting);
    clock.advance(3000);
    waiting.unansweredSince = clock.now();
    repairs.watch(waiting);
    clock.advance(4999);
    expect(waiting.repairs).toEqual([]);
    clock.advance(1);
    expect(waiting.repairs).toEqual([8000]);
  });

  it("counts from the response, not from the call", () => {
    const clock = createManualClock();
    clock.advance(10_000);
    const waiting = new Waiting(clock, 7000);
    createRepairs(clock, 5000).watch(waiting);
    clock.advance(2000);
    expect(waiting.repairs).toEqual([12_000]);
  });

  it("keeps one timer for all", () => {
    const clock = createManualClock();
    const repairs = createRepairs(clock, 5000);
    const all = Array.from({ length: 100 }, () => {
      clock.advance(10);
      const waiting = new Waiting(clock);
      repairs.watch(waiting);
      repairs.watch(waiting);
      return waiting;
    });
    expect(clock.timers).toBe(1);
    clock.advance(5000);
    expect(all.map((waiting) => waiting.repairs)).toEqual(
      all.map((_, index) => [(index + 1) * 10 + 5000]),
    );
    expect(clock.timers).toBe(0);
  });

  it("lets a repair ask for the next one", () => {
    const clock = createManualClock();
    const repairs = createRepairs(clock, 5000);
    const times: number[] = [];
    const again: { repairQueued: boolean; unansweredSince: number | undefined; repair(): void } = {
      repairQueued: false,
      unansweredSince: 0,
      repair() {
        times.push(clock.now());
        this.unansweredSince = clock.now();
        repairs.watch(this);
      },
    };
    repairs.watch(again);
    clock.advance(15_000);
    expect(times).toEqual([5000, 10_000, 15_000]);
  });
});
