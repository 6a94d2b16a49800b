import { stripTypeScriptTypes } from "node:module";
import vm from "node:vm";
import { describe, expect, it } from "vitest";
import { createCallNotes, type Crossing, printCrossings } from "./crossings.ts";
import { instrument } from "./instrument.ts";

/** Runs sources, each of a package, with one set of notes. The last statement of the last one is what is measured. */
async function crossingsOf(
  sources: Readonly<Record<string, string>>,
  run: string,
): Promise<readonly Crossing[]> {
  const notes = createCallNotes();
  const context = vm.createContext({ noteCall: notes.begin });
  for (const [place, text] of Object.entries(sources))
    vm.runInContext(stripTypeScriptTypes(instrument(text, place)), context);
  return notes.of(() => {
    vm.runInContext(run, context);
  });
}

describe("the calls into another package", () => {
  it("are noted in their order, with those that go back to a package that waits", async () => {
    const crossings = await crossingsOf(
      {
        "cache/topic": "var head = (): number => 7; function wake(): number { return drain(); }",
        "protocol/type":
          "var drain = function (): number { return gather() + own(); }; var own = () => 1;",
        "delta/gather":
          "class Gather { get size(): number { return head(); } } var gather = () => new Gather().size;",
      },
      "wake()",
    );
    expect(printCrossings(crossings)).toBe(
      [
        "cache -> protocol: type#drain",
        "protocol -> delta: gather#gather",
        "delta => back to cache: topic#head",
      ].join("\n"),
    );
  });

  it("end with the function that has made them, also where it throws", async () => {
    const crossings = await crossingsOf(
      {
        "a/x": "function outer() { try { fail(); } catch {} try { fail(); } catch {} }",
        "b/y": "function fail() { throw new Error('no'); }",
      },
      "outer()",
    );
    expect(crossings.map(({ from, to, isBack }) => [from, to, isBack])).toEqual([
      ["a", "b", false],
      ["a", "b", false],
    ]);
  });

  it("are noted of constructors, accessors and arrows that return an object, and not of what waits or yields", async () => {
    const crossings = await crossingsOf(
      {
        "a/x": "function outer() { new Made(); pair(); later(); [...many()]; }",
        "b/y":
          "class Made { constructor() {} } const pair = () => ({ a: 1 }); async function later() {} function* many() {}",
      },
      "outer()",
    );
    expect(crossings.map(({ callee }) => callee)).toEqual(["y#new Made", "y#pair"]);
  });

  it("are printed once where equal ones follow each other", () => {
    const call = { from: "a", to: "b", callee: "y#f", isBack: false };
    expect(printCrossings([call, call, { ...call, callee: "y#g" }])).toBe(
      "a -> b: y#f\na -> b: y#g",
    );
  });
});
