import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock, wallTimeOf } from "./clock.ts";

describe("systemClock", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: 1000 });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("reads the wall clock of the machine in milliseconds", () => {
    expect(systemClock.wallTime()).toBe(1000);
    vi.advanceTimersByTime(5);
    expect(systemClock.wallTime()).toBe(1005);
  });

  it.each([-3_600_000, 3_600_000])(
    "measures intervals in whole milliseconds, whatever the wall clock does: a step of %d ms",
    (step) => {
      const started = systemClock.now();
      vi.setSystemTime(systemClock.wallTime() + step);
      vi.advanceTimersByTime(5.7);
      expect(systemClock.now() - started).toBe(5);
    },
  );

  it("names a past moment in wall time as the wall clock has it now", () => {
    const moment = systemClock.now();
    vi.advanceTimersByTime(40);
    vi.setSystemTime(1_000_000);
    expect(wallTimeOf(systemClock, moment)).toBe(999_960);
  });

  it("calls back once, when the time has come", () => {
    const calls = vi.fn();
    systemClock.after(10, calls);
    vi.advanceTimersByTime(9);
    expect(calls).not.toHaveBeenCalled();
    vi.advanceTimersByTime(100);
    expect(calls).toHaveBeenCalledOnce();
  });

  it("waits for longer than a timer of the machine can, and takes a cancel meanwhile", () => {
    const [calls, cancelled] = [vi.fn(), vi.fn()];
    const days = 86_400_000;
    systemClock.after(60 * days, calls);
    const timer = systemClock.after(60 * days, cancelled);
    vi.advanceTimersByTime(59 * days);
    timer.cancel();
    expect(calls).not.toHaveBeenCalled();
    vi.advanceTimersByTime(days);
    expect([calls.mock.calls.length, cancelled.mock.calls.length]).toEqual([1, 0]);
  });

  it("never calls back before it returns", () => {
    const calls = vi.fn();
    systemClock.after(0, calls);
    expect(calls).not.toHaveBeenCalled();
  });

  it("does not call back after a cancel, and takes a late one", () => {
    const calls = vi.fn();
    const timer = systemClock.after(10, calls);
    timer.cancel();
    vi.advanceTimersByTime(100);
    expect(calls).not.toHaveBeenCalled();
    timer.cancel();
  });

  it("keeps no process alive", () => {
    vi.useRealTimers();
    const active = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = active();
    const timer = systemClock.after(1000, () => undefined);
    expect(active()).toBe(before);
    timer.cancel();
  });
});
