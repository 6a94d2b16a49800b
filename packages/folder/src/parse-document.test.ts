import { describe, expect, it } from "vitest";
import { Fault, type FaultDetails } from "./folder-problem.ts";
import { parseJson, parseYaml } from "./parse-document.ts";

const faultOf = (parse: (text: string) => unknown, text: string): FaultDetails => {
  try {
    parse(text);
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
      expect(faultOf(parseJson, text)).toMatchObject({
        line,
        column,
        message: expect.stringMatching(/^is not valid JSON: [^"]*('.*')?[^"]*$/s) as string,
      });
    });
  }
  it("rejects a key that occurs twice, and names the second one", () => {
    expect(faultOf(parseJson, '{"a": 1,\n "a": 2}')).toMatchObject({
      line: 2,
      column: 2,
      message: expect.stringContaining("unique") as string,
    });
  });
  it("reads 100 levels, and rejects more with their place, before anything is parsed", () => {
    expect(() => parseJson("[".repeat(100) + "]".repeat(100))).not.toThrow();
    expect(() => parseJson(`{"a\\"${"[".repeat(200)}": "${"{".repeat(200)}\\\\"}`)).not.toThrow();
    for (const levels of [101, 10_000, 1_000_000])
      expect(faultOf(parseJson, `{\n "a": ${"[".repeat(levels)}`)).toMatchObject({
        message: "is nested more than 100 levels deep",
        line: 2,
        column: 106,
      });
    expect(faultOf(parseJson, '[{"a":'.repeat(10_000))).toMatchObject({ line: 1, column: 301 });
  });
  it("rejects an integer that a number does not hold exactly", () => {
    expect(faultOf(parseJson, '{\n "a": 18446744073709551615}')).toMatchObject({
      line: 2,
      column: 7,
      hint: "put it in quotes",
    });
  });
});

describe("parseYaml()", () => {
  it("reads several documents; empty ones are null", () => {
    expect(parseYaml("---\na: 1\n---\n---\nb: 2\n")).toEqual([{ a: 1 }, null, { b: 2 }]);
  });
  it("finds no document in comments", () => {
    expect(parseYaml("# nothing\n")).toEqual([]);
  });
  it("reads dates and yes as strings, by YAML 1.2", () => {
    expect(parseYaml("a: 2020-01-01\nb: yes")).toEqual([{ a: "2020-01-01", b: "yes" }]);
  });
  it("names the place of an error of syntax", () => {
    expect(faultOf(parseYaml, "a: 1\nb: [1, 2\nc: 3\n")).toMatchObject({ line: 3, column: 1 });
  });
  it("names the place of a key that occurs twice", () => {
    expect(faultOf(parseYaml, "a: 1\nb: 2\na: 3\n")).toMatchObject({
      line: 3,
      column: 1,
      message: expect.stringContaining("unique") as string,
    });
  });
  it("names the place where only the quick parser sees an error", () => {
    expect(faultOf(parseYaml, "a: 1\nb: !foo 2\n")).toMatchObject({
      line: 2,
      column: 4,
      message: expect.stringContaining("unknown scalar tag") as string,
    });
  });
  it("rejects an integer that a number does not hold exactly, and says how to write it", () => {
    expect(faultOf(parseYaml, "a: 1\nb: 9007199254740993\n")).toMatchObject({
      line: 2,
      column: 4,
      hint: "put it in quotes",
    });
  });
  it.each([
    [
      "a: 1\nb: *hunter2\n",
      "is not valid YAML: an alias has no anchor; put a text that begins with * in quotes",
    ],
    [
      "a: 1\nb: !hunter2\n",
      "is not valid YAML: unknown scalar tag; put a text that begins with ! in quotes",
    ],
    [
      "a: 1\nb: !hunter2!x y\n",
      "is not valid YAML: Could not resolve tag; put a text that begins with ! in quotes",
    ],
    [
      "a: 1\nb: !hunter2{ y\n",
      "is not valid YAML: Tags and anchors must be separated from the next token by white space",
    ],
    [
      "a: 1\nb: 90071992547409931\n",
      "an integer is larger than a number of YAML and JSON holds exactly",
    ],
  ])("does not show what may be a password: %j", (text, message) => {
    expect(faultOf(parseYaml, text)).toMatchObject({ line: 2, message });
  });
  it("finds such an integer behind a text with the same digits", () => {
    expect(faultOf(parseYaml, "a: 'x 9007199254740993'\nb: 9007199254740993\n")).toMatchObject({
      line: 2,
      column: 4,
    });
  });
  it("reads large integers that a number holds exactly", () => {
    expect(parseYaml("a: 9007199254740992")).toEqual([{ a: 9007199254740992 }]);
  });
  it("reads 100 levels, and rejects more with their place", () => {
    expect(() => parseYaml("[".repeat(100) + "]".repeat(100))).not.toThrow();
    for (const levels of [101, 10_000, 50_000])
      expect(faultOf(parseYaml, `a:\n  ${"[".repeat(levels)}`)).toMatchObject({
        message: "is nested more than 100 levels deep",
        line: 2,
      });
  });
});
