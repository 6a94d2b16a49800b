import type { Clock } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, test, vi } from "vitest";

import { createDeadlines, longestTimerMs, startDeadline } from "./deadlines.ts";

describe("createDeadlines()", () => {
  test.each([-3_600_000, 3_600_000])("counts no step of the wall clock: %d ms", (step) => {
    const clock = createFakeClock();
    const due: string[] = [];
    createDeadlines<string>(clock, 100, (item) => {
      due.push(item);
    }).add("a");
    clock.stepWallTime(step);
    clock.advance(99);
    expect(due).toEqual([]);
    clock.advance(1);
    expect(due).toEqual(["a"]);
  });

  test("calls back for each item when its own time is over, once", () => {
    const clock = createFakeClock();
    const due: string[] = [];
    const deadlines = createDeadlines<string>(clock, 100, (item) => {
      due.push(item);
    });
    deadlines.add("a");
    clock.advance(60);
    deadlines.add("b");
    clock.advance(39);
    expect(due).toEqual([]);
    clock.advance(1);
    expect(due).toEqual(["a"]);
    clock.advance(60);
    expect(due).toEqual(["a", "b"]);
    clock.advance(1000);
    expect(due).toEqual(["a", "b"]);
  });

  test("forgets what is removed, and begins anew for what is added again", () => {
    const clock = createFakeClock();
    const due: string[] = [];
    const deadlines = createDeadlines<string>(clock, 100, (item) => {
      due.push(item);
    });
    deadlines.add("a");
    deadlines.add("b");
    deadlines.add("c");
    clock.advance(50);
    expect([deadlines.remove("b"), deadlines.remove("b")]).toEqual([true, false]);
    deadlines.add("a");
    clock.advance(50);
    expect(due).toEqual(["c"]);
    clock.advance(50);
    expect(due).toEqual(["c", "a"]);
  });

  test("takes what is added while it calls back for the next time", () => {
    const clock = createFakeClock();
    let calls = 0;
    const deadlines = createDeadlines<string>(clock, 100, (item) => {
      calls += 1;
      deadlines.add(item);
    });
    deadlines.add("a");
    clock.advance(100);
    expect(calls).toBe(1);
    clock.advance(100);
    expect(calls).toBe(2);
  });

  test("leaves no timer behind when nothing is in", () => {
    const clock = createFakeClock();
    const deadlines = createDeadlines<string>(clock, 100, () => undefined);
    deadlines.add("a");
    deadlines.add("b");
    deadlines.remove("a");
    expect(clock.pending).toBe(1);
    deadlines.remove("b");
    expect(clock.pending).toBe(0);
  });
});

const armeriaMs = 9_223_369_200_000;

/** A clock that rejects what a timer of Node cannot hold. */
function nodeLikeClock(): ReturnType<typeof createFakeClock> {
  const clock = createFakeClock();
  const after: Clock["after"] = (ms, callback) => {
    if (ms > longestTimerMs) throw new RangeError(`${ms} ms overflows a timer`);
    return clock.after(ms, callback);
  };
  return Object.assign(Object.create(clock) as typeof clock, { after });
}

describe("startDeadline()", () => {
  test("calls back at a time far beyond what a timer holds, and not before", () => {
    const clock = nodeLikeClock();
    const late = vi.fn();
    startDeadline(clock, armeriaMs, late);
    clock.advance(armeriaMs - 1);
    expect(late).not.toHaveBeenCalled();
    clock.advance(1);
    expect(late).toHaveBeenCalledOnce();
  });

  test("cancels a long deadline in any of its parts", () => {
    const clock = nodeLikeClock();
    const late = vi.fn();
    const deadline = startDeadline(clock, armeriaMs, late);
    clock.advance(longestTimerMs * 2);
    deadline.cancel();
    expect(clock.pending).toBe(0);
    clock.advance(armeriaMs);
    expect(late).not.toHaveBeenCalled();
  });
});
