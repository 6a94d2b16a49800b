import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { createBackoff, systemClock } from "./clock.ts";

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

describe("createBackoff()", () => {
  it("waits 1 s, then 1.6 times as long each time, 120 s at most, and begins anew after a response [C-RECON-1]", () => {
    const backoff = createBackoff({}, () => 0.5);
    const waits = Array.from({ length: 14 }, () => Math.round(backoff.next()));
    expect(waits.slice(0, 4)).toEqual([1_000, 1_600, 2_560, 4_096]);
    expect(waits.slice(-3)).toEqual([120_000, 120_000, 120_000]);
    backoff.reset();
    expect(backoff.next()).toBe(1_000);
  });

  it.each([
    [0, 800],
    [0.25, 900],
    [0.75, 1_100],
  ])("jitter: %d gives %d ms", (random, ms) => {
    expect(createBackoff({}, () => random).next()).toBeCloseTo(ms);
  });

  it("may be as Envoy's: from 500 ms to 30 s, with full jitter", () => {
    const options = { initialMs: 500, factor: 2, jitter: 1, maxMs: 30_000 };
    const [none, twice] = [0, 1].map((random) => {
      const backoff = createBackoff(options, () => random);
      return Array.from({ length: 9 }, () => backoff.next());
    });
    expect([none?.[8], twice?.[0], twice?.[8]]).toEqual([0, 1_000, 60_000]);
  });
});
