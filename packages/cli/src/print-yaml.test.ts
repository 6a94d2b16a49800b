import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { printYaml } from "./print-yaml.ts";

describe("printYaml()", () => {
  it.each([
    ["a string of 10 MB", "x y".repeat(3_500_000)],
    ["10 MB of lines", "line\n".repeat(2_000_000)],
    ["10 MB that need quotes", "\u001b'".repeat(2_500_000)],
    ["10 MB beyond ASCII", "東京".repeat(2_500_000)],
  ])("prints %s", (_, value) => {
    expect(load(printYaml({ value })) === undefined).toBe(false);
    expect((load(printYaml({ value })) as JsonObject).value === value).toBe(true);
  }, 60_000);

  it("prints 100,000 fields and 100,000 entries", () => {
    const value = { fields: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`f${at}`, at])), entries: Array.from({ length: 100_000 }, (_, at) => `e${at}`) };
    expect(load(printYaml(value))).toEqual(value);
  }, 60_000);

  it("prints 1,000 levels of nesting", () => {
    let value: JsonValue = "end";
    for (let depth = 0; depth < 500; depth++) value = [{ a: value }];
    expect(() => printYaml(value)).not.toThrow();
  });

  it("escapes what a terminal could obey [S-ACK-15]", () => {
    const value = { text: "a\u202eb\u061cc\u{e0041}d\u001b[2Je\u0085f\u2028g" };
    const yaml = printYaml(value);
    expect(yaml).toBe(String.raw`text: "a\u202eb\u061cc\U000e0041d\u001b[2Je\u0085f\u2028g"` + "\n");
    expect(load(yaml)).toEqual(value);
  });

  it("prints awkward strings so that two readers of YAML read the same", () => {
    const random = createRandom(7);
    const pieces = ["\n", " ", "\t", ":", ": ", " #", "#", "- ", "---", "'", "\"", "\\", "a", "0", "1e3", "true", "~", "null", "{", "]", "|", ">", "%", "&", "*", "?", "\u0000", "\u2028", "\u202e", "\u{e0041}", "\u{1f600}", "ß", "0x1", "12:30", "2001-01-01", ".inf", "<<", "=", "\r", "\u0085", "\ufeff", "\u00a0", "5s", "."];
    for (let round = 0; round < 2_000; round++) {
      const text = (): string => Array.from({ length: random(6) }, () => pieces[random(pieces.length)] ?? "").join("");
      const value = [{ [`k${text()}`]: text(), list: [text(), [text()], {}], more: { [text()]: { a: text() } } }, text()];
      const yaml = printYaml(value);
      expect(load(yaml), yaml).toEqual(value);
      expect(parse(yaml), yaml).toEqual(value);
    }
  }, 60_000);

  it("prints a key that is longer than YAML reads at the start of a line", () => {
    const value = { a: 1, ["k".repeat(5_000)]: { b: [1, { ["l".repeat(2_000)]: "m\nn" }] } };
    expect(load(printYaml(value))).toEqual(value);
  });
});

/** Numbers below a limit, the same for the same seed. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 0x1_0000_0000 * limit);
  };
}
