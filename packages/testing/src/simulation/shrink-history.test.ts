import { describe, expect, it } from "vitest";

import { shrinkHistory } from "./shrink-history.ts";

const history = Array.from({ length: 200 }, (_, n) => n);

describe("shrinkHistory()", () => {
  it("leaves what matters, in order", async () => {
    const needed = [3, 77, 78, 199];
    expect(
      await shrinkHistory(history, (some) => needed.every((one) => some.includes(one))),
    ).toEqual(needed);
  });

  it("leaves out what can only go together with its neighbours, and what can go once something else has gone", async () => {
    const fails = (some: readonly number[]): boolean =>
      some.includes(10) && some.includes(20) === some.includes(21);
    expect(await shrinkHistory(history, async (some) => Promise.resolve(fails(some)))).toEqual([
      10,
    ]);
  });

  it("gives what it has when it may try no more, and nothing where nothing is needed", async () => {
    let asked = 0;
    const shortened = await shrinkHistory(
      history,
      (some) => {
        asked++;
        return some.includes(1);
      },
      { tries: 3 },
    );
    expect(asked).toBe(3);
    expect(shortened).toContain(1);
    expect(shortened.length).toBeLessThan(200);
    expect(await shrinkHistory(history, () => true)).toEqual([]);
  });

  it("replaces what is left by what is simpler, as far as it still fails", async () => {
    const texts = ["abc", "xay", "q"];
    const simpler = (text: string): readonly string[] =>
      Array.from({ length: text.length }, (_, at) => text.slice(0, at) + text.slice(at + 1));
    const fails = (some: readonly string[]): boolean =>
      some.join("").replaceAll(/[^a]/gu, "").length === 2;
    expect(await shrinkHistory(texts, fails, { simpler })).toEqual(["a", "a"]);
  });
});
