import type { ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createCache, type Cache } from "./index.ts";

const PARENT = "type.googleapis.com/test.Parent";
const CHILD = "type.googleapis.com/test.Child";
const OTHER = "type.googleapis.com/test.Other";
const textOf = (payload: Uint8Array): string => Buffer.from(payload).toString();
const types: readonly ResourceType[] = [
  { typeUrl: CHILD, refersTo: [PARENT, OTHER], keepWhileReferenced: true },
  { typeUrl: PARENT, references: (payload) => textOf(payload).split(" ").map((name) => ({ typeUrl: CHILD, name })) },
];

function useCache(): { readonly cache: Cache; readonly put: (typeUrl: string, name: string, text?: string) => void; readonly exists: (name: string) => boolean } {
  const cache = createCache({ types });
  return {
    cache,
    put: (typeUrl, name, text = "") => { cache.put({ typeUrl, name, value: Buffer.from(text) }); },
    exists: (name) => cache.topic(CHILD, { name }).members()[0]?.resource !== undefined,
  };
}

describe("a removal of what something refers to", () => {
  it("waits until the last that refers to it is changed or removed, and is then part of that revision [S-REM-3]", () => {
    const { cache, put, exists } = useCache();
    put(CHILD, "c");
    put(PARENT, "p", "c d");
    put(PARENT, "q", "c");
    cache.remove(CHILD, "c");
    expect(exists("c")).toBe(true);
    put(PARENT, "p", "d");
    expect(exists("c")).toBe(true);
    const { revision } = cache;
    cache.remove(PARENT, "q");
    expect(exists("c")).toBe(false);
    expect(cache.topic(CHILD, { name: "c" }).head).toBe(revision + 1);
  });

  it("goes at once where nothing refers to it, or ceases to in the same transaction [S-REM-3]", () => {
    const { cache, put, exists } = useCache();
    for (const name of ["c", "d"]) put(CHILD, name);
    put(PARENT, "p", "c");
    cache.remove(CHILD, "d");
    cache.transaction((writer) => {
      writer.remove(CHILD, "c");
      writer.remove(PARENT, "p");
    });
    expect([exists("c"), exists("d")]).toEqual([false, false]);
  });

  it("is given up when the name is put again [S-REM-3]", () => {
    const { cache, put, exists } = useCache();
    put(CHILD, "c", "1");
    put(PARENT, "p", "c");
    cache.remove(CHILD, "c");
    put(CHILD, "c", "2");
    cache.remove(PARENT, "p");
    expect(exists("c")).toBe(true);
  });

  it("waits as well where it is left out of a complete state [S-REM-3]", () => {
    const { cache, put, exists } = useCache();
    put(CHILD, "c");
    put(PARENT, "p", "c");
    cache.transaction((writer) => { writer.complete(CHILD, { name: "*" }); });
    expect(exists("c")).toBe(true);
    cache.remove(PARENT, "p");
    expect(exists("c")).toBe(false);
  });
});
