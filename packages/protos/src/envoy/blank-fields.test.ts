import { describe, expect, it } from "vitest";
import { blankFields } from "./blank-fields.ts";

const withoutExtensions = (text: string): string =>
  blankFields(text, (name) => name.startsWith("["));

describe("blankFields()", () => {
  it.each([
    "a: 1",
    "«[x.y]: 1» a: 2",
    "a {« [x.y] { b: 1 c < d: 2 > }» e: 3 }",
    `«[x/y]: "}" '{'» a: "[x.y]: 1"`,
    "«[x.y]: [ { a: 1 }, { b: 2 } ]»; a: 1",
    "a: [ {« [x.y]: - 1» }, <«[x.y]: -1»> ]",
    'a: "\\"" « # [x.y]: 1\n[x.y]: 1»',
    "«[ x . y ] : 1» a: [1, 2]",
  ])("turns what is marked to blanks: %j", (marked) => {
    const left = marked.replace(/«(.*?)»/gsu, (_, dropped: string) => dropped.replace(/\S/gu, " "));
    expect(withoutExtensions(marked.replace(/[«»]/gu, ""))).toBe(left);
  });

  it("asks with the name as it is written", () => {
    const asked: string[] = [];
    blankFields("a { b: 1 [x.y]: 2 } c: [d]", (name) => {
      asked.push(name);
      return false;
    });
    expect(asked).toEqual(["a", "b", "[x.y]", "c"]);
  });

  it.each(["", "a", "a {", "}", 'a: "', "[", "a: [", "[x", ": :", "\u{1f600}"])(
    "ends on %j, which is not a text format",
    (text) => {
      expect(withoutExtensions(text)).toHaveLength(text.length);
    },
  );

  it("costs one pass", () => {
    expect(withoutExtensions("[x.y]: 1 a: 2 ".repeat(30_000))).toHaveLength(14 * 30_000);
  });
});
