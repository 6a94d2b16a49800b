import { createCache } from "@xdstp/cache";
import type { Entry } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { removed, TYPE } from "../../test/entries.ts";
import { keyOf } from "./lookup.ts";
import { mergeEntries } from "./merge-entries.ts";
import type { SotwState } from "./sotw-state.ts";

const plain = "xdstp://a/test.Type/~x";
const asked = "xdstp://a/test.Type/%7Ex";
const at = (name: string, revision: number): Entry => removed(name, revision);

/** A state that subscribes to these. */
function subscribed(...names: readonly string[]): Pick<SotwState, "subscriptions"> {
  const cache = createCache();
  const subscriptions: SotwState["subscriptions"] = new Map();
  for (const name of names)
    subscriptions.set(keyOf(name), { topic: cache.topic(TYPE, { name }), hash: 0 });
  return { subscriptions };
}

describe("mergeEntries()", () => {
  it("takes each name once, in order of its first appearance [S-DUP-1]", () => {
    const [a, b, c] = [at("a", 1), at("b", 2), at("c", 3)];
    expect(mergeEntries(subscribed(), [[a, b], [b, c], [a]])).toEqual([a, b, c]);
    expect(mergeEntries(subscribed(), [])).toEqual([]);
  });

  it("takes the newest entry of a name, whichever comes first and however it is spelled [S-DUP-1]", () => {
    const [older, newer] = [at(plain, 1), at(asked, 2)];
    expect(mergeEntries(subscribed(plain), [[older], [newer]])).toEqual([newer]);
    expect(mergeEntries(subscribed(plain), [[newer], [older]])).toEqual([newer]);
  });

  it("takes of equal ones that in the spelling that was asked [N-42]", () => {
    const [stored, spelled] = [at(plain, 1), at(asked, 1)];
    expect(mergeEntries(subscribed(asked), [[stored], [spelled]])).toEqual([spelled]);
    expect(mergeEntries(subscribed(asked), [[spelled], [stored]])).toEqual([spelled]);
    expect(mergeEntries(subscribed("*"), [[stored], [spelled]])).toEqual([stored]);
  });
});
