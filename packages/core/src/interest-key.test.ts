import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { interestKey } from "./interest-key.ts";

describe("interestKey()", () => {
  it.each([
    ["a", {}, "a"],
    ["a", { k: "1" }, 'a\n[["k","1"]]'],
    ["a", { l: "2", k: "1" }, 'a\n[["k","1"],["l","2"]]'],
    ['a\n[["k","1"]]', {}, '\n"a\\n[[\\"k\\",\\"1\\"]]"'],
  ])("%j with %j: %j [N-66]", (name, parameters, key) => {
    expect(interestKey({ name, parameters: new Map(Object.entries(parameters)) }, name)).toBe(key);
  });

  it("differs for different interests [N-66]", () => {
    const name = fc.string({ unit: fc.constantFrom("a", "\n", "[", "]", '"', ","), maxLength: 8 });
    const interest = fc.tuple(name, fc.dictionary(name, name, { maxKeys: 2 }));
    const keyOf = ([text, parameters]: readonly [
      string,
      Readonly<Record<string, string>>,
    ]): string =>
      interestKey({ name: text, parameters: new Map(Object.entries(parameters)) }, text);
    const plain = ([text, parameters]: readonly [
      string,
      Readonly<Record<string, string>>,
    ]): string => JSON.stringify([text, Object.entries(parameters).sort()]);
    fc.assert(
      fc.property(interest, interest, (one, other) => {
        expect(keyOf(one) === keyOf(other)).toBe(plain(one) === plain(other));
      }),
      { numRuns: 1_000 },
    );
  });
});
