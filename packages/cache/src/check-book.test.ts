import { XdsError } from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { put, T, U } from "../test/scene.ts";
import { createCache, type Cache } from "./index.ts";

const name = "xdstp://a/t.T/ns/x";
const glob = "xdstp://a/t.T/ns/*";

/** Adds a check that always rejects with this text; returns a function that removes it. */
function add(cache: Cache, interest: string, text: string): () => void {
  return cache.check(T, { name: interest }, () => new XdsError("INVALID_ARGUMENT", text));
}

/** Returns the text of the rejection of a put, if it is rejected. */
function rejection(cache: Cache, text = name, typeUrl = T): string | undefined {
  return cache.commit({ put: [put(text, "1", { typeUrl })] }).rejected?.[0]?.error.text;
}

describe("the checks of a cache", () => {
  it("that two register alike are two: one that is taken away leaves the other", () => {
    const cache = createCache();
    const check = (): XdsError => new XdsError("INVALID_ARGUMENT", "no");
    const [one, other] = [cache.check(T, { name }, check), cache.check(T, { name }, check)];
    one();
    one();
    expect(rejection(cache)).toBe("no");
    other();
    expect(rejection(cache)).toBeUndefined();
  });

  it("are asked by name, then by glob, then by wildcard, until one rejects", () => {
    const cache = createCache();
    const remove = [
      ["*", "wildcard"],
      [glob, "glob"],
      ["xdstp://a/t.T/ns/%78", "name"],
    ].map(([interest = "", text = ""]) => add(cache, interest, text));
    expect(rejection(cache)).toBe("name");
    remove[2]?.();
    expect(rejection(cache)).toBe("glob");
    remove[1]?.();
    expect([
      rejection(cache),
      rejection(cache, `${name}?k=v`),
      rejection(cache, "opaque"),
      rejection(cache, "opaque", U),
    ]).toEqual(["wildcard", undefined, "wildcard", undefined]);
  });

  it("stay when another of the same name is taken away, and again when that is done twice", () => {
    const cache = createCache();
    const [one, two] = [add(cache, name, "one"), add(cache, name, "two")];
    add(cache, "*", "wildcard");
    one();
    expect(rejection(cache)).toBe("two");
    two();
    add(cache, name, "three");
    two();
    expect([rejection(cache), rejection(cache, "opaque")]).toEqual(["three", "wildcard"]);
  });

  it("stay when the last of the type before them is taken away twice", () => {
    const cache = createCache();
    const one = add(cache, name, "one");
    one();
    add(cache, "*", "two");
    one();
    expect(rejection(cache)).toBe("two");
  });
});
