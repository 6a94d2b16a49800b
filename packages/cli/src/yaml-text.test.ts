import type { JsonValue } from "@bufbuild/protobuf";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { yamlText } from "./yaml-text.ts";

const seed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

/** Returns a source of numbers that are equal for equal seeds. */
function randomOf(first: number): (below: number) => number {
  let state = first >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const awkward = [
  "a",
  " ",
  ":",
  "#",
  "- ",
  "\n",
  "\t",
  '"',
  "'",
  "\\",
  "{",
  "}",
  "[",
  "]",
  "&",
  "*",
  "!",
  "|",
  ">",
  "%",
  "@",
  "`",
  "\u202e",
  "\u061c",
  "\u{e0041}",
  "\u0085",
  "\u2028",
  "\ufeff",
  "é",
  "😀",
  "0",
  "1e3",
  "null",
  "true",
  "~",
  "=",
  "<<",
  "quoted-text-",
  "quoted-text-0.",
];

describe("yamlText()", () => {
  it.each([
    ["a text of 10 MB", { text: "x".repeat(10_000_000) }],
    ["a text of 10 MB in many lines", { text: "some line of a script\n".repeat(500_000) }],
    ["a name of 4 MB", { [`k${"x".repeat(4_000_000)}`]: 1 }],
    [
      "100,000 fields",
      Object.fromEntries(
        Array.from({ length: 100_000 }, (_, index) => [`field-${index}`, `v${index}`]),
      ),
    ],
    ["100,000 entries", Array.from({ length: 100_000 }, (_, index) => ({ name: `n${index}` }))],
    [
      "200 levels",
      Array.from({ length: 200 }).reduce<JsonValue>(
        (inner, _, level) => (level % 2 === 0 ? { inner } : [inner]),
        "deep",
      ),
    ],
    ["a text that is a mark", { a: "quoted-text-0.", b: "\u0007", c: "x".repeat(20_000) }],
  ] as const)("writes %s, and it means the same", (_, json) => {
    expect(load(yamlText(json), { maxDepth: 1_000 })).toEqual(json);
  });

  it.each(["\u202e", "\u061c", "\u{e0041}", "\u001b[2J", "\u009b31m", "\u200b", "\ufeff"])(
    "writes %j as its number, in values and in names [S-ACK-15]",
    (text) => {
      const yaml = yamlText({ value: `a${text}b`, [`k${text}`]: 1 });
      expect(yaml).not.toMatch(/[^\P{C}\n]/u);
      expect(load(yaml)).toEqual({ value: `a${text}b`, [`k${text}`]: 1 });
    },
  );

  it(`never throws, and means the same, whatever a text is made of (seed ${seed})`, () => {
    const random = randomOf(seed);
    for (let round = 0; round < 2_000; round += 1) {
      const text = Array.from({ length: random(12) }, () => awkward[random(awkward.length)]).join(
        "",
      );
      const json = { value: text, list: [text, { [text]: text }] };
      expect(load(yamlText(json)), JSON.stringify(text)).toEqual(json);
    }
  });
});
