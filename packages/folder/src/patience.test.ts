import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createPatience } from "./patience.ts";

describe("createPatience()", () => {
  it("gives what an operation gives, and leaves no timer", async () => {
    const clock = createFakeClock();
    const patience = createPatience(clock);
    expect(await patience("x", () => Promise.resolve(1))).toBe(1);
    await expect(patience("x", () => Promise.reject(new Error("EIO")))).rejects.toThrow("EIO");
    expect(clock.pending).toBe(0);
  });
  it("rejects an operation that takes 10 s, and others on the same path at once until it is over", async () => {
    const clock = createFakeClock();
    const patience = createPatience(clock);
    let answer = (): void => undefined;
    let runs = 0;
    const hung = patience(
      "x",
      () =>
        new Promise<void>((resolve) => {
          answer = resolve;
        }),
    );
    clock.advance(10_000);
    await expect(hung).rejects.toThrow("its file system has not answered for 10 s");
    const run = (): Promise<number> => Promise.resolve(++runs);
    await expect(patience("x", run)).rejects.toThrow("has not answered");
    expect(await patience("y", run)).toBe(1);
    answer();
    await Promise.resolve();
    await Promise.resolve();
    expect(await patience("x", run)).toBe(2);
  });
});
