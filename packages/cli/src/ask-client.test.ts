import { expect, it } from "vitest";
import { noteForeign, type IgnoredNames } from "./ask-client.ts";

it("counts ignored names of each delta response, and of a SotW server, which repeats them, those of the last response of each type [C-AUTH-7]", () => {
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
