import type { Clock } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, test, vi } from "vitest";

import { longestTimerMs, startDeadline } from "./deadlines.ts";

const armeriaMs = 9_223_369_200_000;

/** Creates a clock that rejects times that are too long for a timer of Node. */
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
