import { describe, expect, it } from "vitest";
import { createFairQueue, type FairQueue } from "./fair-queue.ts";

/** Items that begin with whose they are. */
function queueOf(...items: readonly string[]): FairQueue<string> {
  const queue = createFairQueue<string>();
  for (const item of items) queue.add(item.charAt(0), item);
  return queue;
}

function drained(queue: FairQueue<string>): readonly string[] {
  const items: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

describe("createFairQueue()", () => {
  it("gives everybody one in turn, and each their oldest first", () => {
    expect(drained(queueOf("a1", "a2", "a3", "b1", "c1", "c2"))).toEqual([
      "a1",
      "b1",
      "c1",
      "a2",
      "c2",
      "a3",
    ]);
    const queue = queueOf("a1", "a2");
    expect(queue.take()).toBe("a1");
    queue.add("b", "b1");
    expect([queue.size, ...drained(queue), queue.size]).toEqual([2, "a2", "b1", 0]);
  });

  it("forgets what is taken out, once", () => {
    const queue = queueOf("a1", "a2", "b1");
    queue.remove("a", "a1");
    queue.remove("a", "a1");
    queue.remove("c", "a2");
    expect([queue.size, ...drained(queue)]).toEqual([2, "a2", "b1"]);
  });

  it("makes room at the cost of whoever has most, as long as that is fairer", () => {
    const queue = queueOf("b1", "a1", "a2", "a3");
    expect(queue.makeRoom("a")).toBeUndefined();
    expect(queue.makeRoom("b")).toBe("a3");
    expect(queue.makeRoom("b")).toBeUndefined();
    expect(queue.makeRoom("c")).toBe("a2");
    expect(queue.makeRoom("c")).toBeUndefined();
    expect([queue.size, ...drained(queue)]).toEqual([2, "b1", "a1"]);
  });
});
