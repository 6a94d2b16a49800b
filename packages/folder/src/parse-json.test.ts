import { describe, expect, it } from "vitest";
import { Fault, type FaultDetails } from "./fault.ts";
import { parseJson } from "./parse-json.ts";

const faultOf = (text: string): FaultDetails => {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof Fault) return error.details;
  }
  throw new Error("no fault was thrown");
};

describe("parseJson()", () => {
  it("reads JSON, tabs and long keys too", () => {
    const key = "k".repeat(5_000);
    expect(parseJson(`{\n\t"${key}":\t[1, "x"]}`)).toEqual({ [key]: [1, "x"] });
  });
  const broken: readonly (readonly [string, string, number, number])[] = [
    ["a missing comma", '{\n "a": 1\n "b": 2}', 3, 2],
    ["a bare word", '{\n "a": b}', 2, 7],
    ["a half word at the end of a line", '{\n "a": tru\n}', 2, 10],
    ["a text that ends early", '{"a": 1', 1, 8],
    ["a comment", "// c\n{}", 1, 1],
    ["something after the end", "{}\n x", 2, 2],
    ["a comma too many", '{"a": [1,]}', 1, 10],
  ];
  for (const [what, text, line, column] of broken) {
    it(`names the place of ${what}`, () => {
      expect(faultOf(text)).toMatchObject({
        line,
        column,
        message: expect.stringMatching(/^is not valid JSON: [^"]*('.*')?[^"]*$/s) as string,
      });
    });
  }
  it("rejects a key that occurs twice, and names the second one", () => {
    expect(faultOf('{"a": 1,\n "a": 2}')).toMatchObject({
      line: 2,
      column: 2,
      message: expect.stringContaining("unique") as string,
    });
  });
  it("reads 100 levels, and rejects more with their place, before anything is parsed", () => {
    expect(() => parseJson("[".repeat(100) + "]".repeat(100))).not.toThrow();
    expect(() => parseJson(`{"a\\"${"[".repeat(200)}": "${"{".repeat(200)}\\\\"}`)).not.toThrow();
    for (const levels of [101, 10_000, 1_000_000])
      expect(faultOf(`{\n "a": ${"[".repeat(levels)}`)).toMatchObject({
        message: "is nested more than 100 levels deep",
        line: 2,
        column: 106,
      });
    expect(faultOf('[{"a":'.repeat(10_000))).toMatchObject({ line: 1, column: 301 });
  });
  it("rejects an integer that a number does not hold exactly", () => {
    expect(faultOf('{\n "a": 18446744073709551615}')).toMatchObject({
      line: 2,
      column: 7,
      hint: "put it in quotes",
    });
  });
});
