import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../test/manual-clock.ts";
import { createQuiet } from "./quiet.ts";

describe("createQuiet()", () => {
  it("calls back once, when nothing has come for so long [C-GLOB-9]", () => {
    const [clock, onQuiet] = [createManualClock(), vi.fn()];
    const quiet = createQuiet(clock, 200, onQuiet);
    for (let n = 0; n < 5; n++) {
      quiet.touch();
      clock.advance(199);
    }
    expect([onQuiet.mock.calls.length, clock.timers]).toEqual([0, 1]);
    clock.advance(1);
    expect([onQuiet.mock.calls.length, clock.timers]).toEqual([1, 0]);
    quiet.touch();
    clock.advance(200);
    expect(onQuiet).toHaveBeenCalledTimes(2);
  });

  it("says nothing once it is stopped", () => {
    const [clock, onQuiet] = [createManualClock(), vi.fn()];
    const quiet = createQuiet(clock, 200, onQuiet);
    quiet.touch();
    quiet.stop();
    clock.advance(1_000);
    expect(onQuiet).not.toHaveBeenCalled();
  });
});
