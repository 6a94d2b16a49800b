import { describe, expect, it } from "vitest";
import { xdstpLocator, name } from "../test/parsed.ts";
import { authorityOf } from "./authority-of.ts";
import { nameFromLocator } from "./name-from-locator.ts";
import { typeOf } from "./type-of.ts";
import { collectionTypeOf, memberTypeOf, typeFromTypeUrl, typeUrlFromType } from "./type-url.ts";

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
