import { describe, expect, it } from "vitest";
import { createManualScheduler } from "./create-manual-scheduler.ts";

describe("createManualScheduler()", () => {
  it("does in a turn what was collected before, in its order", () => {
    const scheduler = createManualScheduler();
    const log: string[] = [];
    scheduler.later(() => {
      log.push("a");
      scheduler.later(() => {
        log.push("c");
      });
    });
    scheduler.later(() => {
      log.push("b");
    });
    expect(log).toEqual([]);
    expect(scheduler.turn()).toBe(2);
    expect(log).toEqual(["a", "b"]);
    expect(scheduler.turn()).toBe(1);
    expect(log).toEqual(["a", "b", "c"]);
    expect(scheduler.turn()).toBe(0);
  });

  it("runs until nothing is left", () => {
    const scheduler = createManualScheduler();
    let left = 5;
    const work = (): void => {
      if (--left > 0) scheduler.later(work);
    };
    scheduler.later(work);
    expect(scheduler.pending).toBe(1);
    scheduler.run();
    expect(left).toBe(0);
    expect(scheduler.pending).toBe(0);
  });

  it("says when work never ends", () => {
    const scheduler = createManualScheduler();
    const work = (): void => {
      scheduler.later(work);
    };
    scheduler.later(work);
    expect(() => {
      scheduler.run();
    }).toThrow("something schedules itself for ever");
  });

  it("keeps what was not done when a callback throws", () => {
    const scheduler = createManualScheduler();
    let done = false;
    scheduler.later(() => {
      throw new Error("broken");
    });
    scheduler.later(() => {
      done = true;
    });
    expect(() => scheduler.turn()).toThrow("broken");
    expect(scheduler.pending).toBe(1);
    scheduler.run();
    expect(done).toBe(true);
  });
});
