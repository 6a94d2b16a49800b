import { describe, expect, it } from "vitest";

import { createFakeClock } from "../create-fake-clock.ts";
import { createStepper } from "./create-stepper.ts";

describe("createStepper()", () => {
  it("makes one call of the clock per step, and lets its promises end before the next", async () => {
    const clock = createFakeClock();
    const log: string[] = [];
    const note = (what: string) => () => {
      log.push(`${what}@${clock.now()}`);
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => {
          log.push(`${what} ended`);
        });
    };
    clock.after(10, note("b"));
    clock.after(5, note("a"));
    clock.after(100, note("c"));
    const stepper = createStepper({
      clock,
      onStep: () => {
        log.push("step");
      },
    });
    await stepper.run(50);
    expect(log).toEqual(["a@5", "a ended", "step", "b@10", "b ended", "step"]);
    expect([clock.now(), stepper.steps]).toEqual([50, 2]);
    await stepper.act(note("d"));
    expect(log.slice(6)).toEqual(["d@50", "d ended", "step"]);
  });

  it("ends with what a check after a step throws", async () => {
    const clock = createFakeClock();
    clock.after(5, () => undefined);
    await expect(
      createStepper({
        clock,
        onStep: () => {
          throw new Error("broken");
        },
      }).run(10),
    ).rejects.toThrow("broken");
    expect(clock.now()).toBe(5);
  });
});
