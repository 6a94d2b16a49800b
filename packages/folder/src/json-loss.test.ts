import { describe, expect, it } from "vitest";
import { Fault } from "./folder-problem.ts";
import { mayLoseContent } from "./json-loss.ts";
import { parseYaml } from "./parse-document.ts";

const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

/** Returns a source of numbers that are equal for equal seeds. */
function randomOf(first: number): (below: number) => number {
  let state = first >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const strings = ['"a"', '"\\u0061"', '"b"', '"a\\""', '"\\\\"', '"{"', '"1234567890123456789"'];
const scalars = ["0", "-1", "1.5", "1e3", "true", "null", "9007199254740991", "-9007199254740993"];

function randomJson(random: (below: number) => number, depth: number): string {
  const kind = depth === 0 ? random(2) : random(4);
  const pick = (list: readonly string[]): string => list[random(list.length)] ?? "0";
  const items = (item: () => string): string => Array.from({ length: random(3) }, item).join(", ");
  if (kind === 0) return pick(strings);
  if (kind === 1) return pick(scalars);
  if (kind === 2) return `[${items(() => randomJson(random, depth - 1))}]`;
  return `{${items(() => `${pick(strings)} :\n ${randomJson(random, depth - 1)}`)}}`;
}

/** Returns true if the parser that reports losses reports one. */
function losesContent(text: string): boolean {
  try {
    parseYaml(text);
    return false;
  } catch (error) {
    return error instanceof Fault && /unique|duplicated|exactly/.test(error.message);
  }
}

describe("mayLoseContent()", () => {
  const texts: readonly (readonly [string, string, boolean])[] = [
    ["equal keys of one object", '{"a": 1, "a": 2}', true],
    ["equal keys with different escapes", '{"a": 1, "\\u0061": 2}', true],
    ["equal keys on both sides of an object", '{"a": {"b": 1}, "a": 2}', true],
    ["equal keys on both sides of a list", '{"a": [1, {}], "a": 2}', true],
    ["equal keys of two objects", '[{"a": {"a": 1}}, {"a": 1}]', false],
    ["equal strings in a list", '{"a": ["a", "a", "a"], "b": "a"}', false],
    ["a quote and a brace in a key", '{"a\\"{": 1, "a": 2}', false],
    ["an integer of 15 digits", "[123456789012345]", false],
    ["a negative integer of 16 digits", "[-1234567890123456]", true],
    ["a long integer at the end of a text", "12345678901234567890", true],
    ["a long number in a string", '["12345678901234567890"]', false],
    ["an empty object", "{}", false],
  ];
  it.each(texts)("decides about %s", (_, text, expected) => {
    expect(mayLoseContent(text)).toBe(expected);
  });
  it("misses no loss that the exact parser reports, in random texts", () => {
    const seen = { lossless: 0, lossy: 0 };
    for (let run = 0; run < 2_000; run++) {
      const seed = firstSeed + run;
      const text = randomJson(randomOf(seed), 4);
      const isLossy = losesContent(text);
      if (isLossy) expect(mayLoseContent(text), `XDSTP_SEED=${seed}: ${text}`).toBe(true);
      seen[isLossy ? "lossy" : "lossless"] += mayLoseContent(text) === isLossy ? 1 : 0;
    }
    expect(Math.min(seen.lossless, seen.lossy)).toBeGreaterThan(50);
  });
});
