import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createDebounce, createPatience } from "./pacing.ts";

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

const settle = async (): Promise<void> => {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
};

const useDebounce = () => {
  const clock = createFakeClock();
  const abort = new AbortController();
  const debounce = createDebounce({ clock, quietMs: 100, maxMs: 2_000 });
  let ended = 0;
  const wait = (): void => {
    void debounce.next(abort.signal).then(() => ended++);
  };
  return {
    clock,
    abort,
    debounce,
    wait,
    ended: async () => {
      await settle();
      return ended;
    },
  };
};

describe("createDebounce()", () => {
  it("ends a burst after 100 ms of quiet, not before", async () => {
    const { clock, debounce, wait, ended } = useDebounce();
    wait();
    debounce.touch();
    clock.advance(60);
    debounce.touch();
    clock.advance(99);
    expect(await ended()).toBe(0);
    clock.advance(1);
    expect(await ended()).toBe(1);
  });
  it("ends a burst without quiet 2 s after its first call", async () => {
    const { clock, debounce, wait, ended } = useDebounce();
    wait();
    for (let ms = 0; ms < 1_950; ms += 50) {
      debounce.touch();
      clock.advance(50);
    }
    expect(await ended()).toBe(0);
    debounce.touch();
    clock.advance(50);
    expect(await ended()).toBe(1);
  });
  it("remembers a burst that ended while nobody waited, once", async () => {
    const { clock, debounce, wait, ended } = useDebounce();
    debounce.touch();
    clock.advance(100);
    wait();
    expect(await ended()).toBe(1);
    wait();
    expect(await ended()).toBe(1);
  });
  it("ends the wait at once when flushed or aborted, and leaves no timer", async () => {
    const { clock, debounce, abort, wait, ended } = useDebounce();
    wait();
    debounce.touch();
    debounce.flush();
    expect(await ended()).toBe(1);
    expect(clock.pending).toBe(0);
    wait();
    abort.abort();
    expect(await ended()).toBe(2);
    wait();
    expect(await ended()).toBe(3);
  });
});
