import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createIdleTimer } from "./idle-timer.ts";

describe("createIdleTimer()", () => {
  it("calls back once, when nothing has come for so long [C-GLOB-9]", () => {
    const [clock, onIdle] = [createManualClock(), vi.fn()];
    const timer = createIdleTimer(clock, 200, onIdle);
    for (let n = 0; n < 5; n++) {
      timer.touch();
      clock.advance(199);
    }
    expect([onIdle.mock.calls.length, clock.timers]).toEqual([0, 1]);
    clock.advance(1);
    expect([onIdle.mock.calls.length, clock.timers]).toEqual([1, 0]);
    timer.touch();
    clock.advance(200);
    expect(onIdle).toHaveBeenCalledTimes(2);
  });

  it("says nothing once it is stopped", () => {
    const [clock, onIdle] = [createManualClock(), vi.fn()];
    const timer = createIdleTimer(clock, 200, onIdle);
    timer.touch();
    timer.stop();
    clock.advance(1_000);
    expect(onIdle).not.toHaveBeenCalled();
  });
});
