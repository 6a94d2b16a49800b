import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { systemClock } from "./clock.ts";
import { createDeadlines } from "./deadlines.ts";

describe("createDeadlines()", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([-3_600_000, 3_600_000])("counts no step of the wall clock: %d ms", (step) => {
    const due: string[] = [];
    createDeadlines<string>(systemClock, 100, (item) => {
      due.push(item);
    }).add("a");
    vi.setSystemTime(systemClock.wallTime() + step);
    vi.advanceTimersByTime(99);
    expect(due).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(due).toEqual(["a"]);
  });

  it("calls back for each item when its own time is over, once", () => {
    const due: string[] = [];
    const deadlines = createDeadlines<string>(systemClock, 100, (item) => {
      due.push(item);
    });
    deadlines.add("a");
    vi.advanceTimersByTime(60);
    deadlines.add("b");
    vi.advanceTimersByTime(39);
    expect(due).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(due).toEqual(["a"]);
    vi.advanceTimersByTime(60);
    expect(due).toEqual(["a", "b"]);
    vi.advanceTimersByTime(1000);
    expect(due).toEqual(["a", "b"]);
  });

  it("forgets what is removed, and begins again for what is added again", () => {
    const due: string[] = [];
    const deadlines = createDeadlines<string>(systemClock, 100, (item) => {
      due.push(item);
    });
    deadlines.add("a");
    deadlines.add("b");
    deadlines.add("c");
    vi.advanceTimersByTime(50);
    expect([deadlines.remove("b"), deadlines.remove("b")]).toEqual([true, false]);
    deadlines.add("a");
    vi.advanceTimersByTime(50);
    expect(due).toEqual(["c"]);
    vi.advanceTimersByTime(50);
    expect(due).toEqual(["c", "a"]);
  });

  it("takes what is added while it calls back for the next time", () => {
    let calls = 0;
    const deadlines = createDeadlines<string>(systemClock, 100, (item) => {
      calls += 1;
      deadlines.add(item);
    });
    deadlines.add("a");
    vi.advanceTimersByTime(100);
    expect(calls).toBe(1);
    vi.advanceTimersByTime(100);
    expect(calls).toBe(2);
  });

  it("leaves no timer behind when nothing is in", () => {
    const deadlines = createDeadlines<string>(systemClock, 100, () => undefined);
    deadlines.add("a");
    deadlines.add("b");
    deadlines.remove("a");
    expect(vi.getTimerCount()).toBe(1);
    deadlines.remove("b");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("says how many are in, and which is due first", () => {
    const deadlines = createDeadlines<string>(systemClock, 100, () => undefined);
    expect([deadlines.size, deadlines.first]).toEqual([0, undefined]);
    deadlines.add("a");
    deadlines.add("b");
    deadlines.add("a");
    expect([deadlines.size, deadlines.first]).toEqual([2, "b"]);
  });
});
