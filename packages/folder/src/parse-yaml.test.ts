import { describe, expect, it } from "vitest";
import { Fault, type FaultDetails } from "./fault.ts";
import { parseYaml } from "./parse-yaml.ts";

const faultOf = (text: string): FaultDetails => {
  try {
    parseYaml(text);
  } catch (error) {
    if (error instanceof Fault) return error.details;
  }
  throw new Error("no fault was thrown");
};

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
    expect(faultOf("a: 1\nb: [1, 2\nc: 3\n")).toMatchObject({ line: 3, column: 1 });
  });
  it("names the place of a key that occurs twice", () => {
    expect(faultOf("a: 1\nb: 2\na: 3\n")).toMatchObject({
      line: 3,
      column: 1,
      message: expect.stringContaining("unique") as string,
    });
  });
  it("names the place where only the quick parser sees an error", () => {
    expect(faultOf("a: 1\nb: !foo 2\n")).toMatchObject({
      line: 2,
      column: 4,
      message: expect.stringContaining("unknown scalar tag") as string,
    });
  });
  it("rejects an integer that a number does not hold exactly, and says how to write it", () => {
    expect(faultOf("a: 1\nb: 9007199254740993\n")).toMatchObject({
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
    expect(faultOf(text)).toMatchObject({ line: 2, message });
  });
  it("finds such an integer behind a text with the same digits", () => {
    expect(faultOf("a: 'x 9007199254740993'\nb: 9007199254740993\n")).toMatchObject({
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
      expect(faultOf(`a:\n  ${"[".repeat(levels)}`)).toMatchObject({
        message: "is nested more than 100 levels deep",
        line: 2,
      });
  });
});
