import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyName } from "../test/arbitraries.ts";
import { globVectors } from "../test/docs.ts";
import { locator, name } from "../test/parsed.ts";
import { property } from "../test/scale.ts";
import { globMatches, globOf, isGlob } from "./glob-of.ts";
import { nameKey } from "./name-key.ts";
import { printName } from "./print-name.ts";
import type { XdstpName } from "./locator.ts";

/** Returns the text before the last slash; undefined without one (N-52). */
function parentOf(id: string): string | undefined {
  const slash = id.lastIndexOf("/");
  return slash === -1 ? undefined : id.slice(0, slash);
}

const isStar = ({ id }: XdstpName): boolean => id === "*" || id.endsWith("/*");

/** Returns true for a member, compared by parts, as the rules describe it (N-51 to N-53). */
function isMember(glob: XdstpName, member: XdstpName): boolean {
  if (
    !isStar(glob) ||
    isStar(member) ||
    member.id === "" ||
    parentOf(glob.id) !== parentOf(member.id)
  )
    return false;
  return nameKey(printName({ ...glob, id: "" })) === nameKey(printName({ ...member, id: "" }));
}

describe("isGlob()", () => {
  it.each([
    "xdstp://a/t/*",
    "xdstp://a/t/ns/*",
    "xdstp://a/t/ns/*?k=v",
    "xdstp://a/t/ns/%2A",
    "xdstp://a/t/ns%2F%2a?b&a",
    "xdstp://a/t//*",
    "xdstp:///t/**/*",
  ])("holds of %j [N-50]", (text) => {
    expect(isGlob(text)).toBe(true);
    expect(isGlob(name(text))).toBe(true);
  });

  it.each([
    "xdstp://a/t/ns/x?k=/*",
    "xdstp://a/t?k=/*",
    "xdstp://a/t/ns/a*",
    "xdstp://a/t/ns/**",
    "xdstp://a/t/*/x",
    "xdstp://a/t/*/",
    "xdstp://a/t",
    "xdstp://*/t/x",
  ])("does not hold of %j [N-50]", (text) => {
    expect(isGlob(text)).toBe(false);
    expect(isGlob(name(text))).toBe(false);
  });

  it.each(["*", "foo/*", "http://a/t/*", "xdstp://a/t/%zz/*", "xdstp://a/t/*#entry=e"])(
    "does not hold of %j, which is not an xdstp name [N-56]",
    (text) => {
      expect(isGlob(text)).toBe(false);
      expect(globOf(text)).toBeUndefined();
    },
  );

  it("holds of file locators that end in /*, and of no http locator [N-19] [N-20] [N-57]", () => {
    expect(isGlob(locator("file:///d/*"))).toBe(true);
    expect(isGlob(locator("file:///*"))).toBe(true);
    expect(isGlob(locator("file:///d/*.yaml"))).toBe(false);
    expect(isGlob(locator("http://a/t/*"))).toBe(false);
    expect(isGlob(locator("xdstp://a/t/*#entry=e"))).toBe(true);
  });
});

describe("globOf()", () => {
  it.each([
    ["xdstp://a/t/ns/x?k=v", "xdstp://a/t/ns/*?k=v"],
    ["xdstp://a/t/x", "xdstp://a/t/*"],
    ["xdstp://a/t//x", "xdstp://a/t//*"],
    ["xdstp://a/t/ns/", "xdstp://a/t/ns/*"],
    ["xdstp://a/t/ns%2F%7ex?b=/y&a=%2F", "xdstp://a/t/ns/*?a=/&b=/y"],
    ["xdstp:///t/ns/a*", "xdstp:///t/ns/*"],
    ["xdstp://a%2Fb/t/x", "xdstp://a%2Fb/t/*"],
    ["xdstp://a/t/x?k=/*", "xdstp://a/t/*?k=/*"],
  ])("of %j is %j [N-52] [N-54]", (text, glob) => {
    expect(globOf(text)).toBe(glob);
  });

  it.each([
    "xdstp://a/t/*",
    "xdstp://a/t/ns/%2A",
    "xdstp://a/t",
    "xdstp://a/t/",
    "xdstp://a/t?k=/v",
  ])("is none for %j: a glob and an empty id are members of none [N-53]", (text) => {
    expect(globOf(text)).toBeUndefined();
  });

  it("is a glob that has the name as its member, for any name that has one [N-54]", () => {
    fc.assert(
      fc.property(anyName, (parts) => {
        const glob = globOf(printName(parts));
        expect(glob === undefined).toBe(parts.id === "" || isStar(parts));
        if (glob === undefined) return;
        expect(isMember(name(glob), parts)).toBe(true);
        expect(nameKey(glob)).toBe(glob);
      }),
      property,
    );
  });
});

describe("globMatches()", () => {
  it("has vectors", () => {
    expect(globVectors.length).toBeGreaterThan(30);
  });

  it.each(globVectors)(
    "$id: $glob and $name: $matches [N-51]",
    ({ glob, name: member, matches }) => {
      expect(globMatches(glob, member)).toBe(matches);
    },
  );

  it.each([
    ["ns", false],
    ["nsx/a", false],
    ["ns/a/b", false],
    ["ns//a", false],
    ["ns/a", true],
    ["ns/", true],
  ] as const)("ns/* and %j: %j [N-52]", (id, matches) => {
    expect(globMatches("xdstp://a/t/ns/*", `xdstp://a/t/${id}`)).toBe(matches);
  });

  it("tells no parent from the empty parent [N-52]", () => {
    expect(globMatches("xdstp://a/t/*", "xdstp://a/t/x")).toBe(true);
    expect(globMatches("xdstp://a/t/*", "xdstp://a/t//x")).toBe(false);
    expect(globMatches("xdstp://a/t//*", "xdstp://a/t//x")).toBe(true);
    expect(globMatches("xdstp://a/t//*", "xdstp://a/t/x")).toBe(false);
  });

  it("has no globs and no empty ids as members [N-53]", () => {
    expect(globMatches("xdstp://a/t/*", "xdstp://a/t/*")).toBe(false);
    expect(globMatches("xdstp://a/t/*", "xdstp://a/t")).toBe(false);
  });

  it("knows no globs of opaque names [N-56]", () => {
    expect(globMatches("foo/*", "foo/a")).toBe(false);
    expect(globMatches("*", "foo")).toBe(false);
    expect(globMatches("*", "xdstp://a/t/x")).toBe(false);
  });

  it("agrees with the rules, part by part [N-51] [N-52] [N-53]", () => {
    const id = fc
      .array(fc.constantFrom("a", "*", "/", "n", "%"), { maxLength: 4 })
      .map((pieces) => pieces.join(""));
    const params = fc.constantFrom(
      new Map<string, string>(),
      new Map([["k", "/*"]]),
      new Map([
        ["k", ""],
        ["a", "?"],
      ]),
      new Map([
        ["a", "?"],
        ["k", ""],
      ]),
    );
    const close: fc.Arbitrary<XdstpName> = fc.record({
      scheme: fc.constant("xdstp"),
      authority: fc.constantFrom("", "a"),
      resourceType: fc.constantFrom("t", "u"),
      id,
      contextParams: params,
    });
    const pair = fc
      .tuple(close, close, fc.boolean())
      .map(
        ([glob, member, sibling]) =>
          [
            sibling
              ? { ...member, id: `${glob.id.slice(0, glob.id.lastIndexOf("/") + 1)}*` }
              : glob,
            member,
          ] as const,
      );
    fc.assert(
      fc.property(pair, ([glob, member]) => {
        expect(globMatches(printName(glob), printName(member))).toBe(isMember(glob, member));
      }),
      property,
    );
  });
});

describe("names of files", () => {
  it.each([
    ["file:///d/a.yaml", "file:///d/*"],
    ["file:///a.yaml", "file:///*"],
    ["file:///d/e/a%20b", "file:///d/e/*"],
    ["file:///d/a*", "file:///d/*"],
    ["file:///d/*", undefined],
    ["file:///d/", undefined],
    ["file:///d/a.yaml#entry=x", undefined],
    ["file://d/a.yaml", undefined],
  ])("have the glob of their directory: %s [N-57]", (name, glob) => {
    expect(globOf(name)).toBe(glob);
    if (glob !== undefined) expect(globMatches(glob, name)).toBe(true);
  });

  it("are globs if they end in a star [N-57]", () => {
    expect(isGlob("file:///d/*")).toBe(true);
    expect(isGlob("file:///*")).toBe(true);
    expect(isGlob("file:///d/*#entry=x")).toBe(false);
    expect(isGlob("file:///d/a")).toBe(false);
    expect(globMatches("file:///d/*", "file:///d/e/a")).toBe(false);
  });
});
