import { describe, expect, it } from "vitest";
import { locatorsOf } from "./locators.ts";

describe("locatorsOf()", () => {
  it("takes one without parameters for a plain name [B-DYN-3]", () => {
    expect(
      locatorsOf([
        { name: "a", dynamicParameters: {} },
        { name: "b", dynamicParameters: { k: "v" } },
      ]),
    ).toEqual({ names: ["a"], interests: [{ name: "b", parameters: new Map([["k", "v"]]) }] });
  });
});
