import { StatusCode } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { createAnswerLine, createFairQueue, type FairQueue } from "./answer-line.ts";

const { signal } = new AbortController();
const turn = async (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

/** Creates answers that end when the test says so, and counts how many have begun. */
function held(): { readonly answer: () => Promise<string>; readonly ends: (() => void)[] } {
  const ends: (() => void)[] = [];
  return {
    ends,
    answer: async () =>
      new Promise((resolve) => {
        ends.push(() => {
          resolve("done");
        });
      }),
  };
}

describe("createAnswerLine()", () => {
  it("makes so many answers at a time, others in their order, and turns away who is too many [S-LIM-1]", async () => {
    const line = createAnswerLine({ atOnce: 2, waiting: 1 });
    const { answer, ends } = held();
    const calls = [
      line.run("a", signal, answer),
      line.run("a", signal, answer),
      line.run("a", signal, answer),
    ];
    expect(await line.run("a", signal, answer)).toEqual({
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: "too many calls wait for an answer",
    });
    expect(ends).toHaveLength(2);
    expect(line.stats()).toEqual({ answering: 2, waiting: 1, rejected: 1 });
    ends[0]?.();
    expect(await calls[0]).toBe("done");
    expect(ends).toHaveLength(2);
    await turn();
    expect(ends).toHaveLength(3);
    for (const end of ends) end();
    expect(await Promise.all(calls)).toEqual(["done", "done", "done"]);
    await turn();
    expect(line.stats()).toEqual({ answering: 0, waiting: 0, rejected: 1 });
  });

  it("gives the place of an answer that fails to the next one, and none to who has gone", async () => {
    const line = createAnswerLine({ atOnce: 1, waiting: 5 });
    const gone = new AbortController();
    const calls = [
      line.run("a", signal, () => {
        throw new Error("broken");
      }),
      line.run("a", gone.signal, () => "a"),
      line.run("a", signal, () => "b"),
    ];
    gone.abort();
    expect(await Promise.allSettled(calls)).toMatchObject([
      { status: "rejected" },
      { value: { code: StatusCode.CANCELLED } },
      { value: "b" },
    ]);
    expect(await line.run("a", gone.signal, () => "c")).toMatchObject({
      code: StatusCode.CANCELLED,
    });
    await turn();
    expect(line.stats()).toEqual({ answering: 0, waiting: 0, rejected: 0 });
  });

  it("answers every principal in turn, and turns away the newest of whoever has most [S-LIM-1]", async () => {
    const line = createAnswerLine({ atOnce: 1, waiting: 3 });
    const made: string[] = [];
    const ask = async (who: string, what: string): Promise<unknown> =>
      line.run(who, signal, () => {
        made.push(what);
      });
    const flood = ["a1", "a2", "a3", "a4", "a5"].map(async (what) => ask("a", what));
    const others = [ask("b", "b1"), ask("c", "c1")];
    expect(line.stats()).toEqual({ answering: 1, waiting: 3, rejected: 3 });
    await Promise.all([...flood, ...others]);
    expect(made).toEqual(["a1", "a2", "b1", "c1"]);
    expect(await Promise.all(flood.slice(2))).toEqual(
      [3, 4, 5].map(() => ({
        code: StatusCode.RESOURCE_EXHAUSTED,
        message: "too many calls wait for an answer",
      })),
    );
    await turn();
    expect(line.stats()).toEqual({ answering: 0, waiting: 0, rejected: 3 });
  });

  it("does not let who asks again and again go before others [S-LIM-1]", async () => {
    const line = createAnswerLine({ atOnce: 1, waiting: 10 });
    const made: string[] = [];
    const ask = async (who: string): Promise<unknown> =>
      line.run(who, signal, () => {
        made.push(who);
      });
    const greedy = async (): Promise<void> => {
      for (let i = 0; i < 4; i += 1) await Promise.all([ask("a"), ask("a")]);
    };
    await Promise.all([greedy(), ask("b"), ask("b")]);
    expect(made.slice(0, 5).join("")).toBe("aabab");
    await turn();
  });
});

/** Returns a queue of items, each of which begins with the name of its client. */
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
