import { describe, expect, it } from "vitest";
import { locator } from "../test/parsed.ts";
import { isPortableEntryName, lintLocator } from "./lint-locator.ts";

describe("lintLocator()", () => {
  it.each(["*", "!x", " x", "constraint:x", "{}", "%2520"])(
    "warns of the reserved value %j [N-64] [B-CTX-2]",
    (value) => {
      expect(lintLocator(locator(`xdstp://a/t/x?ok=1&k=${value}`))).toMatchObject([
        {
          code: "reserved-value",
          key: "k",
          message: expect.stringContaining('"k"') as string,
          rule: "N-64",
        },
      ]);
    },
  );

  it.each(["", "1", "x*", "é", "x constraint:"])(
    "has nothing against the value %j [N-64]",
    (value) => {
      expect(lintLocator(locator(`http://a/t/x?k=${value}`))).toEqual([]);
    },
  );

  it.each(["some thing", "é", "a+b", "a%2Cb"])(
    "warns of the entry %j, which is accepted [N-70]",
    (entry) => {
      expect(lintLocator(locator(`xdstp://a/t/x#entry=${entry}`))).toMatchObject([
        { code: "entry-characters", key: "entry", rule: "N-70" },
      ]);
    },
  );

  it("has nothing against an entry within the union of the patterns [N-70]", () => {
    expect(lintLocator(locator("xdstp://a/t/x#entry=09azAZ_./~:-"))).toEqual([]);
  });

  it("looks into alt [N-64] [N-70]", () => {
    expect(
      lintLocator(locator("file:///x#alt=xdstp://b/t/y?k=*%23entry=a%252Cb")).map(
        ({ code }) => code,
      ),
    ).toEqual(["reserved-value", "entry-characters"]);
  });
});

describe("isPortableEntryName()", () => {
  it.each([
    ["azAZ09_.-", true],
    ["a/b", false],
    ["a~b", false],
    ["a:b", false],
    ["a b", false],
    ["", false],
    ["a\n", false],
  ])("of %j: %j [N-70]", (name, portable) => {
    expect(isPortableEntryName(name)).toBe(portable);
  });
});
