import { XdsError, type Entry } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { added, removed } from "../../../cache/test/kept-entries.ts";
import { hasNewErrors, withoutToldErrors } from "./told-errors.ts";

const failed = (name: string): Entry => ({
  ...removed(name),
  error: new XdsError("PERMISSION_DENIED", "no"),
});
const [a, b, x, y, gone] = [added("a"), added("b"), failed("x"), failed("y"), removed("gone")];

describe("withoutToldErrors()", () => {
  it("leaves out the errors that the client was told, and nothing else [S-ERR-2]", () => {
    expect(withoutToldErrors([a, x, y, gone], [b, x, gone])).toEqual([a, y, gone]);
    expect(withoutToldErrors([a, x], [{ ...x }])).toEqual([a, x]);
  });

  it("gives the same array for the same two, and the array itself where there is nothing to leave out, so that streams share its frame", () => {
    const [entries, held] = [
      [a, x],
      [a, x],
    ];
    expect(withoutToldErrors(entries, held)).toBe(withoutToldErrors(entries, held));
    for (const [all, told] of [
      [[a, b], held],
      [entries, [a, b, gone]],
      [[a, gone], [gone]],
    ] as const)
      expect(withoutToldErrors(all, told)).toBe(all);
  });
});

describe("hasNewErrors()", () => {
  it.each([
    ["none", [a, gone], [b], false],
    ["one that was told", [a, x], [x], false],
    ["one that was not", [a, x], [a], true],
    ["one of two that was not", [x, y], [x], true],
    ["what is missing without an error", [gone], [], false],
  ] as const)("says of %s whether there is one to tell [S-ERR-1]", (_, entries, held, isNew) => {
    expect(hasNewErrors(entries, held)).toBe(isNew);
  });
});
