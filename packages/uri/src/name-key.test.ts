import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { anyName, anyText, spelledName } from "../test/arbitraries.ts";
import { name, xdstpLocator } from "../test/parsed.ts";
import { property } from "../test/scale.ts";
import { authorityOf, nameKey, sameName, typeOf } from "./name-key.ts";
import { nameFromLocator } from "./locator.ts";
import { parseName } from "./parse-name.ts";
import { printName } from "./print-name.ts";
import { collectionTypeOf, memberTypeOf, typeFromTypeUrl, typeUrlFromType } from "./type-url.ts";

/** Returns the key, always through the parser and the printer. */
function keyByParts(text: string): string {
  const parsed = parseName(text);
  return parsed.ok ? printName(parsed.value) : text;
}

/** Compares names by their parts, independently of the printer (N-40). */
function equalByParts(a: string, b: string): boolean {
  const [left, right] = [parseName(a), parseName(b)];
  if (!left.ok || !right.ok) return a === b;
  const params = left.value.contextParams;
  const { authority, resourceType, id, contextParams } = right.value;
  return (
    left.value.authority === authority &&
    left.value.resourceType === resourceType &&
    left.value.id === id &&
    params.size === contextParams.size &&
    [...params].every(([key, value]) => contextParams.get(key) === value)
  );
}

describe("nameKey()", () => {
  it.each([
    ["xdstp://a/t/x?b=2&a=1", "xdstp://a/t/x?a=1&b=2"],
    ["xdstp://a/t/%7ex/", "xdstp://a/t/~x/"],
    ["xdstp://a/t/?", "xdstp://a/t"],
    ["xdstp://a/t/x?a=1&a=2", "xdstp://a/t/x?a=1"],
    ["xdstp://a/t/x?a=1&&b=2", "xdstp://a/t/x?a=1&b=2"],
    ["xdstp://a/t/x?a=1&", "xdstp://a/t/x?a=1"],
    ["xdstp://a/t/x?a", "xdstp://a/t/x?a="],
    ["xdstp://a/t/x?a=b=c", "xdstp://a/t/x?a=b%3Dc"],
    ["xdstp://a/t/x?=1&=2", "xdstp://a/t/x?=1"],
    ["xdstp://a/t/x", "xdstp://a/t/x"],
    ["xdstp://a/t/x?", "xdstp://a/t/x"],
    ["xdstp:///t", "xdstp:///t"],
  ])("is the canonical string: %j has %j [N-41]", (text, key) => {
    expect(nameKey(text)).toBe(key);
  });

  it.each([
    "",
    "*",
    "foo/*",
    "foo/%7Ex",
    "http://a/t/%7Ex",
    "XDSTP://a/t/%7Ex",
    "é",
    "\ud800",
    "udpa://a/t/x?b&a",
  ])("leaves the opaque name %j as it is [N-43]", (text) => {
    expect(nameKey(text)).toBe(text);
  });

  it.each([
    "xdstp://a/t/%zz",
    "xdstp://a/t/%7Ex#entry=e",
    "xdstp:",
    "xdstp://a",
    "xdstp://a/t/\n%7E",
    "xdstp://a/t/\ud800%7E",
  ])("leaves %j, which does not parse, as it is", (text) => {
    expect(nameKey(text)).toBe(text);
  });

  it("is its own key [N-39] [N-41]", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(nameKey(nameKey(text))).toBe(nameKey(text));
      }),
      property,
    );
  });

  it("takes no other way with canonical texts than with any [N-41]", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyName.map(printName)), (text) => {
        expect(nameKey(text)).toBe(keyByParts(text));
      }),
      property,
    );
  });

  it("is one for all spellings of a name [N-40] [N-41]", () => {
    fc.assert(
      fc.property(spelledName, ([parts, spelling]) => {
        expect(nameKey(spelling)).toBe(printName(parts));
      }),
      property,
    );
  });

  it("is equal exactly when the parts are equal [N-40] [N-41]", () => {
    const close = fc
      .array(fc.constantFrom("/", "t", "x", "%78", "?", "k=1", "k", "=", "&", "%2F", "*"), {
        maxLength: 5,
      })
      .map((pieces) => `xdstp://a/t/${pieces.join("")}`);
    fc.assert(
      fc.property(close, close, (a, b) => {
        expect(nameKey(a) === nameKey(b)).toBe(equalByParts(a, b));
      }),
      property,
    );
  });
});

describe("sameName()", () => {
  it.each([
    ["xdstp://a/t/x?b=2&a=1", "xdstp://a/t/%78?a=1&b=%32"],
    ["xdstp://a/t", "xdstp://a/t/"],
    ["foo", "foo"],
    ["xdstp://%", "xdstp://%"],
  ])("holds of %j and %j [N-40]", (a, b) => {
    expect(sameName(a, b)).toBe(true);
  });

  it.each([
    ["xdstp://a/t/x", "xdstp://A/t/x"],
    ["xdstp://a/t/x", "xdstp://a/u/x"],
    ["xdstp://a/t/x", "xdstp://a/t/X"],
    ["xdstp://a/t/x", "xdstp://a/t/x/"],
    ["xdstp://a/t/x%2520", "xdstp://a/t/x%20"],
  ])("does not hold of %j and %j [N-40]", (a, b) => {
    expect(sameName(a, b)).toBe(false);
  });

  it("compares opaque names byte for byte, and never with an xdstp name [N-43]", () => {
    expect(sameName("foo/%7Ex", "foo/~x")).toBe(false);
    expect(sameName("foo/*", "foo/a")).toBe(false);
    expect(sameName("XDSTP://a/t/x", "xdstp://a/t/x")).toBe(false);
    expect(sameName("http://a/t/x?b&a", "http://a/t/x?a&b")).toBe(false);
  });

  it("matches parameters exactly in both directions [N-44]", () => {
    expect(sameName("xdstp://a/t/x?k=v", "xdstp://a/t/x")).toBe(false);
    expect(sameName("xdstp://a/t/x?k=v", "xdstp://a/t/x?k=v&l=w")).toBe(false);
    expect(sameName("xdstp://a/t/x?k=v", "xdstp://a/t/x?k=w")).toBe(false);
    expect(sameName("xdstp://a/t/x?k", "xdstp://a/t/x?k=")).toBe(true);
  });
});

const opaque = ["", "*", "foo", "http://a/t/x", "xdstp://", "xdstp://a", "xdstp://a/t#entry=e"];

describe("typeOf()", () => {
  it.each([
    "xdstp://a/t.v3.T",
    "xdstp://a/t.v3.T/x",
    "xdstp://a/t.v3.T?k=/v",
    "xdstp://%61/t.v3.T/%78?",
    "xdstp:///t.v3.T/",
  ])("is the type in %j [N-08]", (text) => {
    expect(typeOf(text)).toBe("t.v3.T");
  });

  it.each(opaque)("is undefined for %j [N-01]", (text) => {
    expect(typeOf(text)).toBeUndefined();
  });
});

describe("authorityOf()", () => {
  it.each([
    ["xdstp://a/t/x", "a"],
    ["xdstp://U@h:1/t?k=/v", "U@h:1"],
    ["xdstp:///t", ""],
    ["xdstp://a%2fb%25/t", "a/b%"],
    ["xdstp://é/t/x", "é"],
    ["xdstp://%61/t/%20", "a"],
  ])("of %j is %j, decoded [N-07]", (text, authority) => {
    expect(authorityOf(text)).toBe(authority);
  });

  it.each(opaque)("is undefined for %j [N-01]", (text) => {
    expect(authorityOf(text)).toBeUndefined();
  });
});

describe("typeUrlFromType() and typeFromTypeUrl()", () => {
  it("go both ways [B-TYPE-1]", () => {
    const type = "envoy.config.listener.v3.Listener";
    expect(typeUrlFromType(type)).toBe("type.googleapis.com/envoy.config.listener.v3.Listener");
    expect(typeFromTypeUrl(typeUrlFromType(type))).toBe(type);
  });

  it.each([
    "",
    "envoy.config.listener.v3.Listener",
    "type.googleapis.com/",
    "type.googleapis.com/a/b",
    "type.googleapis.com/a b",
    "types.googleapis.com/a",
    "/type.googleapis.com/a",
    "Type.googleapis.com/a",
  ])("know no type in %j [B-TYPE-1]", (typeUrl) => {
    expect(typeFromTypeUrl(typeUrl)).toBeUndefined();
  });
});

describe("collectionTypeOf() and memberTypeOf()", () => {
  it.each([
    "envoy.config.listener.v3.Listener",
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    "T",
    "a.Collection",
  ])("of %j go both ways", (type) => {
    expect(collectionTypeOf(type)).toBe(`${type}Collection`);
    expect(memberTypeOf(collectionTypeOf(type))).toBe(type);
  });

  it.each([
    "",
    "Collection",
    "a.b.Collection",
    "type.googleapis.com/Collection",
    "a.b.Collections",
    "a.b.Xcollection",
    "a.Listener",
  ])("know no member type in %j", (type) => {
    expect(memberTypeOf(type)).toBeUndefined();
  });
});

describe("nameFromLocator()", () => {
  it("drops the directives: of X#entry=n only X is asked for on the wire [N-18] [N-71]", () => {
    expect(nameFromLocator(xdstpLocator("xdstp://a/tCollection/x?k=v#entry=n"))).toEqual(
      name("xdstp://a/tCollection/x?k=v"),
    );
  });
});
