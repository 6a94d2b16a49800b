import { describe, expect, it, vi } from "vitest";

import { createWatcher, put, T } from "../test/scene.ts";
import { type CacheEvent, createCache } from "./index.ts";

/** Collects what would become an uncaught exception. */
function collectThrown(): string[] {
  const thrown: string[] = [];
  vi.spyOn(globalThis, "queueMicrotask").mockImplementation((callback) => {
    try {
      callback();
    } catch (error) {
      thrown.push(String(error));
    }
  });
  return thrown;
}

describe("events", () => {
  it("come after their transaction is visible, each once, also to a listener that writes", () => {
    const seen: string[] = [];
    const cache = createCache({
      onEvent: (event: CacheEvent) => {
        seen.push(`${event.kind} ${cache.topic(T, { name: "x" }).head}`);
        if (event.kind === "ready") cache.commit({ put: [put("x", "2", { version: "1" })] });
      },
    });
    cache.commit({ put: [put("x", "1", { version: "1" })] });
    expect(seen).toEqual(["ready 1", "version-reused 2"]);
  });

  it("go on after a listener has thrown, which surfaces as an uncaught exception", () => {
    const thrown = collectThrown();
    const seen: string[] = [];
    const cache = createCache({
      onEvent: ({ kind }) => {
        seen.push(kind);
        throw new Error(kind);
      },
    });
    cache.commit({ put: [put("xdstp://a/t.T/x", "1", { aliases: ["y"] })] });
    expect([seen, thrown]).toEqual([
      ["aliases-ignored", "ready"],
      ["Error: aliases-ignored", "Error: ready"],
    ]);
    expect(cache.revision).toBe(1);
  });
});

describe("wakes", () => {
  it("reach the other watchers when one throws, which surfaces as an uncaught exception", () => {
    const thrown = collectThrown();
    const cache = createCache();
    const watchers = [
      createWatcher(() => {
        throw new Error("bug");
      }),
      createWatcher(),
    ];
    const topic = cache.topic(T, { name: "x" });
    for (const watcher of watchers) topic.watch(watcher);
    cache.commit({ put: [put("x")] });
    expect([watchers.map(({ wakes }) => wakes), thrown]).toEqual([[1, 1], ["Error: bug"]]);
  });
});
