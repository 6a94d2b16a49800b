import { describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "./create-fake-clock.ts";

/** Records the calls and their times. */
function noted(clock: FakeClock): {
  readonly log: readonly string[];
  readonly note: (what: string) => () => void;
} {
  const log: string[] = [];
  return {
    log,
    note: (what) => () => {
      log.push(`${what}@${clock.now()}`);
    },
  };
}

describe("createFakeClock()", () => {
  it("stands still until it is moved", () => {
    const clock = createFakeClock({ start: 1000 });
    expect(clock.now()).toBe(1000);
    clock.advance(5);
    expect(clock.now()).toBe(1005);
    expect(createFakeClock().now()).toBe(0);
  });

  it("steps its wall clock without moving anything else", () => {
    const clock = createFakeClock({ start: 1000 });
    const { log, note } = noted(clock);
    clock.after(10, note("due"));
    clock.stepWallTime(-3_600_000);
    expect([clock.now(), clock.wallTime()]).toEqual([1000, 1000 - 3_600_000]);
    clock.advance(10);
    expect([log, clock.wallTime()]).toEqual([["due@1010"], 1010 - 3_600_000]);
  });

  it("calls in the order of times, equal times in the order of their making, each at its time", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    clock.after(20, note("c"));
    clock.after(10, note("a"));
    clock.after(10, note("b"));
    clock.advance(30);
    expect(log).toEqual(["a@10", "b@10", "c@20"]);
    expect(clock.now()).toBe(30);
  });

  it("calls once, on the very millisecond, and never within `after`", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    clock.after(0, note("now"));
    clock.after(10, note("later"));
    expect(log).toEqual([]);
    clock.advance(0);
    expect(log).toEqual(["now@0"]);
    clock.advance(9);
    expect(log).toEqual(["now@0"]);
    clock.advance(1);
    clock.advance(100);
    expect(log).toEqual(["now@0", "later@10"]);
  });

  it("makes calls that a call puts on the clock, if their time is within the advance", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    clock.after(10, () => {
      clock.after(5, note("within"));
      clock.after(50, note("beyond"));
    });
    clock.advance(20);
    expect(log).toEqual(["within@15"]);
    expect(clock.pending).toBe(1);
  });

  it("counts what waits, and forgets what was cancelled", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    const first = clock.after(10, note("first"));
    clock.after(10, note("second"));
    expect(clock.pending).toBe(2);
    first.cancel();
    expect(clock.pending).toBe(1);
    clock.advance(10);
    expect(log).toEqual(["second@10"]);
    expect(clock.pending).toBe(0);
    first.cancel();
  });

  it("lets a call cancel another of the same time", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    const timers = [
      clock.after(10, () => {
        timers[1]?.cancel();
      }),
      clock.after(10, note("second")),
    ];
    clock.advance(10);
    expect(log).toEqual([]);
  });

  it("stops at the time of a call that throws", () => {
    const clock = createFakeClock();
    clock.after(10, () => {
      throw new Error("broken");
    });
    expect(() => {
      clock.advance(20);
    }).toThrow("broken");
    expect(clock.now()).toBe(10);
    expect(clock.pending).toBe(0);
  });

  it.each([-1, NaN])("rejects to move by %d", (ms) => {
    expect(() => {
      createFakeClock().advance(ms);
    }).toThrow(`time cannot be moved by ${ms} ms: give 0 or more`);
  });

  it("makes one call at a time by `step`, and says when the next one falls due", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    expect(clock.next).toBeUndefined();
    clock.after(20, note("b"));
    clock.after(10, note("a"));
    expect(clock.next).toBe(10);
    expect(clock.step()).toBe(true);
    expect([log, clock.now(), clock.next]).toEqual([["a@10"], 10, 20]);
    clock.step();
    expect(clock.step()).toBe(false);
    expect(clock.now()).toBe(20);
  });

  it("keeps the order with many calls, of which most are cancelled", () => {
    const clock = createFakeClock();
    const { log, note } = noted(clock);
    const at = (n: number): number => (n * 7919) % 1000;
    const timers = Array.from({ length: 1000 }, (_, n) => clock.after(at(n), note(String(n))));
    for (const [n, timer] of timers.entries()) if (n % 10 !== 0) timer.cancel();
    timers[1]?.cancel();
    expect(clock.pending).toBe(100);
    clock.advance(1000);
    const left = Array.from({ length: 100 }, (_, n) => 10 * n).sort(
      (a, b) => at(a) - at(b) || a - b,
    );
    expect(log).toEqual(left.map((n) => `${n}@${at(n)}`));
    timers[0]?.cancel();
    expect(clock.pending).toBe(0);
  });
});
