import { createFakeClock } from "@xdstp/testing";
import { describe, expect, test } from "vitest";
import { createPingGuard } from "./ping-guard.ts";

describe("createPingGuard()", () => {
  test("bears three early pings in a row, not the fourth [S-LIM-1]", () => {
    const guard = createPingGuard(createFakeClock(), 1000, { sentBytes: 0 });
    expect([guard.ping(), guard.ping(), guard.ping(), guard.ping(), guard.ping()]).toEqual([
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  test("forgets early pings after one in time", () => {
    const clock = createFakeClock();
    const guard = createPingGuard(clock, 1000, { sentBytes: 0 });
    for (let round = 0; round < 10; round += 1) {
      expect([guard.ping(), guard.ping(), guard.ping(), guard.ping()]).toEqual([
        true,
        true,
        true,
        true,
      ]);
      clock.advance(1000);
    }
  });

  test("forgets early pings after bytes were sent, however few of a message they are", () => {
    const meter = { sentBytes: 0 };
    const guard = createPingGuard(createFakeClock(), 1000, meter);
    guard.ping();
    for (let round = 0; round < 10; round += 1) {
      expect([guard.ping(), guard.ping(), guard.ping()]).toEqual([true, true, true]);
      meter.sentBytes += 1;
    }
  });
});
