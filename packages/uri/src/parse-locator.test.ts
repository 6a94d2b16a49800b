import { describe, expect, it } from "vitest";
import { uriVectors, type Components } from "../test/docs.ts";
import { errorOf, locator } from "../test/parsed.ts";
import type { Locator } from "./locator.ts";
import { parseLocator } from "./parse-locator.ts";
import { printLocator } from "./print-name.ts";
import { isGlob } from "./glob-of.ts";

const vectors = uriVectors.filter(({ kind }) => kind === "locator");

/** Returns a locator in the form of the vectors. */
function componentsOf(parsed: Locator): Components {
  const directives = parsed.directives.map((directive) =>
    directive.kind === "alt"
      ? { alt: componentsOf(directive.locator) }
      : { entry: directive.entry },
  );
  const glob = parsed.scheme === "http" ? {} : { isGlob: isGlob(parsed) };
  if (parsed.scheme === "file") return { ...parsed, ...glob, directives };
  return {
    ...parsed,
    ...glob,
    contextParams: Object.fromEntries(parsed.contextParams),
    directives,
  };
}

/** Returns a locator with `levels` alt directives, each in the value of the one before. */
function nested(levels: number): string {
  return levels === 0
    ? "xdstp://b/t/x"
    : `xdstp://a/t/x#alt=${nested(levels - 1)
        .replaceAll("%", "%25")
        .replaceAll("#", "%23")}`;
}

describe("parseLocator() on the vectors", () => {
  it("has vectors", () => {
    expect(vectors.filter(({ ok }) => ok).length).toBeGreaterThan(20);
    expect(vectors.filter(({ ok }) => !ok).length).toBeGreaterThan(5);
  });

  it.each(vectors.filter(({ ok }) => ok))(
    "reads $id: $input",
    ({ input, components, canonical }) => {
      const parsed = locator(input);
      expect(componentsOf(parsed)).toEqual(components);
      if (canonical !== undefined) expect(printLocator(parsed)).toBe(canonical);
    },
  );

  it.each(vectors.filter(({ ok }) => !ok))("rejects $id: $input as $error", ({ input, error }) => {
    expect(errorOf(parseLocator(input)).code).toBe(error);
  });
});

describe("parseLocator()", () => {
  it.each(["", "*", "https://a/t/x", "HTTP://a/t/x", "udpa://a/t/x", "ftp://a/t/x", "xdstp"])(
    "rejects the scheme of %j [N-01]",
    (text) => {
      expect(errorOf(parseLocator(text))).toMatchObject({ code: "scheme", position: 0 });
    },
  );

  it.each([
    ["xdstp:/a/t", 6],
    ["http:a/t", 5],
    ["file:/x", 5],
  ] as const)("wants // behind the scheme: %j [N-02]", (text, position) => {
    expect(errorOf(parseLocator(text))).toMatchObject({ code: "authority-marker", position });
  });

  it("cuts the fragment first: a ? or / in it is data [N-03]", () => {
    expect(locator("xdstp://a/t/x#entry=y?z/w")).toMatchObject({
      id: "x",
      contextParams: new Map(),
      directives: [{ kind: "entry", entry: "y?z/w" }],
    });
    expect(locator("http://a/t?k=/?#entry=e#f")).toMatchObject({
      id: "",
      contextParams: new Map([["k", "/?"]]),
      directives: [{ entry: "e#f" }],
    });
    expect(errorOf(parseLocator("xdstp://a#entry=/t/x")).code).toBe("type-missing");
  });

  it("finds control characters and unpaired surrogates in the fragment too [N-04] [N-06]", () => {
    expect(errorOf(parseLocator("xdstp://a/t/x#entry=\t")).code).toBe("control-character");
    expect(errorOf(parseLocator("file:///x#entry=\udc00"))).toMatchObject({
      code: "utf8",
      position: 16,
    });
  });

  it.each([
    "#",
    "#bogus=x",
    "#Entry=x",
    "#entry",
    "#entry=a,",
    "#,entry=a",
    "#entry=a,b",
    "# entry=a",
  ])("knows alt= and entry= in lower case only, and no empty part: %j [N-14]", (fragment) => {
    expect(errorOf(parseLocator(`xdstp://a/t/x${fragment}`))).toMatchObject({
      code: "directive-unknown",
      part: "directives",
    });
  });

  it("splits at commas before decoding, so that an escaped one is data [N-14]", () => {
    expect(locator("xdstp://a/t/x#entry=a%2Calt%3Db,alt=file:///y")).toMatchObject({
      directives: [{ entry: "a,alt=b" }, { kind: "alt", locator: { scheme: "file", id: "y" } }],
    });
  });

  it.each([
    ["xdstp://a/t/x#entry=a,entry=b", 22],
    ["file:///x#alt=file:///y,entry=a,alt=file:///z", 32],
  ] as const)("rejects the same directive twice: %j [N-15]", (text, position) => {
    expect(errorOf(parseLocator(text))).toMatchObject({ code: "directive-duplicate", position });
  });

  it("allows an alt inside an alt: it belongs to the inner locator [N-15]", () => {
    expect(locator(nested(2))).toMatchObject({
      directives: [{ locator: { directives: [{ locator: { authority: "b" } }] } }],
    });
  });

  it("decodes an entry once, takes any string and rejects the empty one [N-16]", () => {
    expect(locator("xdstp://a/t/x#entry=%2541%20é")).toMatchObject({
      directives: [{ kind: "entry", entry: "%41 é" }],
    });
    expect(errorOf(parseLocator("xdstp://a/t/x#entry="))).toMatchObject({
      code: "directive-empty",
      position: 14,
    });
    expect(errorOf(parseLocator("xdstp://a/t/x#entry=%FF"))).toMatchObject({
      code: "utf8",
      position: 20,
    });
  });

  it("decodes an alt once and parses it as a locator of any scheme [N-17]", () => {
    expect(locator("xdstp://a/t/x#alt=http://b/t/a%2520b%3Fk=%2526")).toMatchObject({
      directives: [
        { locator: { scheme: "http", id: "a b", contextParams: new Map([["k", "&"]]) } },
      ],
    });
    expect(errorOf(parseLocator("xdstp://a/t/x#alt=")).code).toBe("directive-empty");
  });

  it("gives the error of an inner locator as the cause, with its position in the decoded value [N-17]", () => {
    expect(errorOf(parseLocator("xdstp://a/t/x#alt=xdstp://b%2525/"))).toMatchObject({
      code: "directive-value",
      position: 18,
      cause: { code: "type-missing", position: 13 },
    });
  });

  it("takes 8 levels of alt and rejects the ninth as too deep [N-17]", () => {
    expect(locator(nested(8))).toMatchObject({ scheme: "xdstp" });
    let error = errorOf(parseLocator(nested(9)));
    for (let level = 1; level <= 9; level++) {
      expect(error.code).toBe("directive-value");
      if (error.cause === undefined) throw new Error("no cause");
      error = error.cause;
    }
    expect(error).toMatchObject({ code: "too-deep" });
    expect(error).not.toHaveProperty("cause");
  });

  it.each([
    ["file://host/a", "authority", 7],
    ["file://a", "authority", 7],
    ["file:///a?k=v", "query-in-file", 9],
    ["file:///a?", "query-in-file", 9],
    ["file://?", "query-in-file", 7],
    ["file://?/a", "query-in-file", 7],
  ] as const)("a file has a path only: %j is %s [N-19]", (text, code, position) => {
    expect(errorOf(parseLocator(text))).toMatchObject({ code, position });
  });

  it.each([
    ["file:///a/b.yaml", "a/b.yaml"],
    ["file:////a", "/a"],
    ["file:///", ""],
    ["file://", ""],
    ["file:///a%3Fb%23", "a?b#"],
  ])("the path of %j behind its leading slash is the id %j [N-19]", (text, id) => {
    expect(locator(text)).toEqual({ scheme: "file", id, directives: [] });
  });

  it("http needs an authority [N-20]", () => {
    expect(errorOf(parseLocator("http:///t/x"))).toMatchObject({
      code: "authority",
      part: "authority",
      position: 7,
    });
  });

  it("reads the rest of http like xdstp [N-20]", () => {
    expect(locator("http://H:80/t/a/../b?z&a=1#entry=e")).toEqual({
      scheme: "http",
      authority: "H:80",
      resourceType: "t",
      id: "a/../b",
      contextParams: new Map([
        ["z", ""],
        ["a", "1"],
      ]),
      directives: [{ kind: "entry", entry: "e" }],
    });
  });
});
