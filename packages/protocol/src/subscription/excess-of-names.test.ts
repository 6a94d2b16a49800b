import { describe, expect, it } from "vitest";
import { isLongerThan, excessOfNames } from "./excess-of-names.ts";
import { defaultLimits } from "../stream/limits.ts";

const parameters = (count: number): string =>
  `xdstp://a/t/n?${Array.from({ length: count }, (_, i) => `k${i}=v`).join("&")}`;

describe("excessOfNames()", () => {
  it("finds a name that is too long, or has too many parameters [S-LIM-4]", () => {
    expect(
      excessOfNames(
        ["a", "n".repeat(2048), parameters(32), "legacy?a&b".padEnd(200, "&"), "xdstp://a/t/n"],
        [],
        defaultLimits,
      ),
    ).toBeUndefined();
    expect(excessOfNames(["a", "n".repeat(2049)], [], defaultLimits)).toEqual([
      "a name is longer than 2048 bytes",
      "nameLength",
    ]);
    expect(excessOfNames(["é".repeat(1024)], [], defaultLimits)).toBeUndefined();
    expect(excessOfNames(["é".repeat(1025)], [], defaultLimits)).toEqual([
      "a name is longer than 2048 bytes",
      "nameLength",
    ]);
    expect(excessOfNames([parameters(33)], [], defaultLimits)).toEqual([
      "a name has more than 32 context parameters",
      "parameters",
    ]);
  });

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
  ])("finds in a locator of %j with %j: %j [S-LIM-4]", (name, parameters, limit) => {
    expect(
      excessOfNames([], [{ name, parameters: new Map(Object.entries(parameters)) }], limits)?.[1],
    ).toBe(limit);
  });
});

describe("isLongerThan()", () => {
  it.each([
    ["ascii", "n".repeat(12), 12],
    ["two bytes a unit", "é".repeat(6), 12],
    ["three bytes a unit", "€".repeat(4), 12],
    ["four bytes in two units", "😀".repeat(3), 12],
    ["half a pair, written as U+FFFD", "\ud83d".repeat(4), 12],
    ["nothing", "", 0],
  ])("counts bytes of UTF-8: %s", (_, text, bytes) => {
    expect(isLongerThan(text, bytes)).toBe(false);
    expect(isLongerThan(`${text}n`, bytes)).toBe(true);
  });
});
