import { describe, expect, it } from "vitest";
import { defaultLimits } from "../stream/limits.ts";
import { excessOfLocators, locatorsOf } from "./locators.ts";

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

describe("excessOfLocators()", () => {
  const limits = { ...defaultLimits, nameLength: 10, parameters: 2 };

  it.each([
    ["n", { a: "1", b: "2" }, undefined],
    ["n".repeat(11), { a: "1" }, "nameLength"],
    ["n€€€", {}, undefined],
    ["nn€€€", {}, "nameLength"],
    ["n", { "€": "€€" }, undefined],
    ["n", { "€": "€€", a: "a" }, "nameLength"],
    ["n", { a: "1", b: "2", c: "3" }, "parameters"],
    ["n", { a: "1234567890" }, "nameLength"],
    ["n", { a: "1234", b: "1234" }, undefined],
  ])("of %j with %j: %j [S-LIM-4]", (name, parameters, limit) => {
    expect(
      excessOfLocators([{ name, parameters: new Map(Object.entries(parameters)) }], limits)?.[1],
    ).toBe(limit);
  });
});
