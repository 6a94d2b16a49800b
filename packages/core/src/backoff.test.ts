import { describe, expect, it } from "vitest";
import { createBackoff } from "./backoff.ts";

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
