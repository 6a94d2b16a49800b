import { StatusCode } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createAnswerLine } from "./answer-line.ts";

const { signal } = new AbortController();
const turn = async (): Promise<void> => new Promise((resolve) => { setImmediate(resolve); });

/** Answers that end when the test says so, and how many have begun. */
function held(): { readonly answer: () => Promise<string>; readonly ends: (() => void)[] } {
  const ends: (() => void)[] = [];
  return { ends, answer: async () => new Promise((resolve) => { ends.push(() => { resolve("done"); }); }) };
}

describe("createAnswerLine()", () => {
  it("makes so many answers at a time, others in their order, and turns away who is too many [S-LIM-1]", async () => {
    const line = createAnswerLine({ atOnce: 2, waiting: 1 });
    const { answer, ends } = held();
    const calls = [line.run(signal, answer), line.run(signal, answer), line.run(signal, answer)];
    expect(await line.run(signal, answer)).toEqual({ code: StatusCode.RESOURCE_EXHAUSTED, message: "too many calls wait for an answer" });
    expect(ends).toHaveLength(2);
    expect(line.stats()).toEqual({ answering: 2, waiting: 1, refused: 1 });
    ends[0]?.();
    expect(await calls[0]).toBe("done");
    expect(ends).toHaveLength(2);
    await turn();
    expect(ends).toHaveLength(3);
    for (const end of ends) end();
    expect(await Promise.all(calls)).toEqual(["done", "done", "done"]);
    await turn();
    expect(line.stats()).toEqual({ answering: 0, waiting: 0, refused: 1 });
  });

  it("gives the place of an answer that fails to the next one, and none to who has gone", async () => {
    const line = createAnswerLine({ atOnce: 1, waiting: 5 });
    const gone = new AbortController();
    const calls = [line.run(signal, () => { throw new Error("broken"); }), line.run(gone.signal, () => "a"), line.run(signal, () => "b")];
    gone.abort();
    expect(await Promise.allSettled(calls)).toMatchObject([{ status: "rejected" }, { value: { code: StatusCode.CANCELLED } }, { value: "b" }]);
    expect(await line.run(gone.signal, () => "c")).toMatchObject({ code: StatusCode.CANCELLED });
    await turn();
    expect(line.stats()).toEqual({ answering: 0, waiting: 0, refused: 0 });
  });
});
