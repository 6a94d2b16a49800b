import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startCaller } from "./caller.ts";

describe("startCaller()", () => {
  it("remembers answers and failures, and stops", async () => {
    const answers = [
      () => Promise.resolve("blue"),
      () => Promise.reject(new Error("gone")),
      () => Promise.resolve("green"),
    ];
    let end = (): void => undefined;
    const last = new Promise<string>((resolve) => {
      end = () => {
        resolve("");
      };
    });
    const caller = startCaller("test", () => answers.shift()?.() ?? last);
    onTestFinished(async () => {
      end();
      await caller.stop();
    });
    await expect.poll(() => caller.since(0).length).toBe(3);
    expect(caller.since(0).map(({ answer, error }) => answer ?? error)).toEqual([
      "blue",
      "gone",
      "green",
    ]);
    expect(caller.failed).toBe(1);
    expect(caller.since(Date.now() + 1000)).toEqual([]);
  });

  it("makes no call after it was stopped", async () => {
    const call = vi.fn(() => Promise.resolve("blue"));
    const caller = startCaller("test", call);
    await caller.stop();
    const made = call.mock.calls.length;
    await new Promise((turn) => {
      setImmediate(turn);
    });
    expect(call).toHaveBeenCalledTimes(made);
  });
});
