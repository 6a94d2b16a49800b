import { describe, expect, it } from "vitest";
import { createManualClock } from "../test/manual-clock.ts";
import { createTokenBucket } from "./token-bucket.ts";

describe("createTokenBucket()", () => {
  it("is full at first, fills with time and holds no more than its size", () => {
    const clock = createManualClock();
    const bucket = createTokenBucket(clock, 10, 100);
    expect([bucket.balance, bucket.waitMs]).toEqual([10, 0]);
    bucket.take(15);
    expect([bucket.balance, bucket.waitMs]).toEqual([-5, 60]);
    clock.advance(59);
    expect(bucket.waitMs).toBe(1);
    clock.advance(1);
    expect(bucket.balance).toBeCloseTo(1);
    expect(bucket.waitMs).toBe(0);
    clock.advance(100_000);
    expect(bucket.balance).toBe(10);
  });
});
