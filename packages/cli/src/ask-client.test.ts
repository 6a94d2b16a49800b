import { expect, it } from "vitest";
import { noteForeign, type IgnoredNames } from "./ask-client.ts";

it("adds up ignored names of delta responses, and counts those of a SotW server in its last response of each type, since it repeats them [C-AUTH-7]", () => {
  const counted = (variant: "delta" | "sotw"): unknown => {
    const ignored: IgnoredNames = new Map();
    for (const [type, names] of [
      ["a", 2],
      ["a", 2],
      ["b", 1],
      ["a", 3],
    ] as const)
      noteForeign(ignored, { server: "s", typeUrl: type, names, namesHash: names, variant });
    return [...(ignored.get("s")?.values() ?? [])];
  };
  expect([counted("delta"), counted("sotw")]).toEqual([
    [7, 1],
    [3, 1],
  ]);
});
