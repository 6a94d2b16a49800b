import type { Put } from "@xdstp/core";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createCache } from "./cache-core.ts";
import type { FeedHandle } from "./cache.ts";
import { createPollFeed } from "./create-poll-feed.ts";

type PollFeedOptions = Parameters<typeof createPollFeed>[0];

const T = "type.googleapis.com/t.T";
const put = (name: string, content = 1): Put => ({
  typeUrl: T,
  resource: { name, version: "", payload: { typeUrl: T, value: new Uint8Array([content]) } },
});

/** A cache with a feed that reads what the test sets. */
const useFeed = (options: Partial<PollFeedOptions> = {}) => {
  const clock = createFakeClock();
  const cache = createCache({ clock });
  onTestFinished(() => cache.close());
  let state: () => ReturnType<PollFeedOptions["read"]> = () => Promise.resolve({ all: [] });
  let reads = 0;
  const errors: string[] = [];
  const read: PollFeedOptions["read"] = () => {
    reads++;
    return state();
  };
  const begin = (): FeedHandle =>
    cache.addFeed(
      createPollFeed({
        everyMs: 1_000,
        jitter: 0,
        clock,
        read,
        onError: ({ text }) => {
          errors.push(text);
        },
        ...options,
      }),
    );
  const turns = (): Promise<void> =>
    new Promise((resolve) => {
      setImmediate(resolve);
    });
  const poll = async (): Promise<void> => {
    clock.advance(1_000);
    await turns();
  };
  const names = (): readonly string[] => Array.from(cache.held(T), ({ name }) => name).sort();
  return {
    clock,
    cache,
    begin,
    poll,
    turns,
    names,
    errors,
    reads: () => reads,
    answer: (next: typeof state) => {
      state = next;
    },
  };
};

describe("createPollFeed()", () => {
  it("reads at once and then after each pause, and removes what a complete state no longer has", async () => {
    const { begin, answer, turns, poll, names, cache } = useFeed();
    answer(() => Promise.resolve({ all: [put("x"), put("y")] }));
    begin();
    await turns();
    expect([names(), cache.ready]).toEqual([["x", "y"], true]);
    answer(() => Promise.resolve({ all: [put("y"), put("z")] }));
    await poll();
    expect(names()).toEqual(["y", "z"]);
    answer(() => Promise.resolve({ all: [] }));
    await poll();
    expect(names()).toEqual([]);
  });
  it("applies a transaction as it is", async () => {
    const { begin, answer, turns, poll, names } = useFeed();
    answer(() => Promise.resolve({ put: [put("x"), put("y")] }));
    begin();
    await turns();
    answer(() => Promise.resolve({ remove: [{ typeUrl: T, name: "x" }] }));
    await poll();
    expect(names()).toEqual(["y"]);
  });
  it("keeps the last state, as stale, while reads fail", async () => {
    const { begin, answer, turns, poll, names, cache, errors } = useFeed();
    answer(() => Promise.resolve({ all: [put("x")] }));
    begin();
    await turns();
    const topic = cache.topic(T, { name: "x" });
    answer(() => Promise.reject(new Error("no database")));
    await poll();
    expect([names(), topic.stale?.text, errors]).toEqual([["x"], "no database", ["no database"]]);
    answer(() => Promise.resolve({ all: [put("x"), put("y")] }));
    await poll();
    expect([names(), topic.stale]).toEqual([["x", "y"], undefined]);
  });
  it("applies nothing of a complete state with a resource that is rejected", async () => {
    const { begin, answer, turns, names, errors } = useFeed();
    answer(() => Promise.resolve({ all: [put("x"), put("*")] }));
    begin();
    await turns();
    expect(names()).toEqual([]);
    expect(errors).toHaveLength(1);
  });
  it("never reads twice at the same time, and ends at once", async () => {
    const { begin, answer, turns, poll, reads, clock } = useFeed();
    answer(() => new Promise(() => undefined));
    const handle = begin();
    await turns();
    await poll();
    expect([reads(), clock.pending]).toEqual([1, 0]);
    answer(() => Promise.resolve({ all: [] }));
    const other = begin();
    await turns();
    expect(clock.pending).toBe(1);
    await other.close();
    expect(clock.pending).toBe(0);
    expect(handle).toBeDefined();
  });
  it("varies the pause by its jitter", async () => {
    const { begin, turns, reads, clock } = useFeed({ jitter: 0.5, random: () => 0 });
    begin();
    await turns();
    clock.advance(499);
    await turns();
    expect(reads()).toBe(1);
    clock.advance(1);
    await turns();
    expect(reads()).toBe(2);
  });
});
