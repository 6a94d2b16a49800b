import { getEventListeners } from "node:events";
import type { Topic, Watcher } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { topicWith } from "../test/harness.ts";
import { whenSettled } from "./when-settled.ts";

/** A topic that settles when the test says so. */
function pending(): {
  readonly topic: Topic;
  readonly watchers: ReadonlySet<Watcher>;
  wake(settled: boolean): void;
} {
  const watchers = new Set<Watcher>();
  let settled = false;
  const topic: Topic = {
    ...topicWith({
      watch: (watcher) => {
        watchers.add(watcher);
      },
      unwatch: (watcher) => {
        watchers.delete(watcher);
      },
    }),
    get settled() {
      return settled;
    },
  };
  return {
    topic,
    watchers,
    wake(now) {
      settled = now;
      for (const watcher of [...watchers]) watcher.wake(topic);
    },
  };
}

describe("whenSettled()", () => {
  it("is settled at once where nothing is pending", async () => {
    const clock = createFakeClock();
    const limits = { clock, atMostMs: 10, signal: new AbortController().signal };
    expect(await whenSettled([], limits)).toBe("settled");
    expect(await whenSettled([topicWith({ settled: true })], limits)).toBe("settled");
    expect(clock.pending).toBe(0);
  });

  it("waits for every topic, and is not fooled by a wake", async () => {
    const [a, b] = [pending(), pending()];
    const clock = createFakeClock();
    const { signal } = new AbortController();
    const wait = whenSettled([a.topic, b.topic], { clock, atMostMs: 10, signal });
    a.wake(false);
    b.wake(true);
    b.wake(true);
    expect([a.watchers.size, b.watchers.size, clock.pending]).toEqual([1, 1, 1]);
    a.wake(true);
    expect(await wait).toBe("settled");
    expect([
      a.watchers.size,
      b.watchers.size,
      clock.pending,
      getEventListeners(signal, "abort").length,
    ]).toEqual([0, 0, 0, 0]);
  });

  it.each(["late", "aborted"] as const)("leaves nothing behind when it ends %s", async (how) => {
    const a = pending();
    const clock = createFakeClock();
    const abort = new AbortController();
    const wait = whenSettled([a.topic], { clock, atMostMs: 10, signal: abort.signal });
    if (how === "late") clock.advance(10);
    else abort.abort();
    expect(await wait).toBe(how);
    expect([
      a.watchers.size,
      clock.pending,
      getEventListeners(abort.signal, "abort").length,
    ]).toEqual([0, 0, 0]);
  });

  it("does not begin once it is aborted", async () => {
    const a = pending();
    expect(
      await whenSettled([a.topic], {
        clock: createFakeClock(),
        atMostMs: 10,
        signal: AbortSignal.abort(),
      }),
    ).toBe("aborted");
    expect(a.watchers.size).toBe(0);
  });
});
