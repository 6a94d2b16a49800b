import type { ResourceType } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createCache, type Cache } from "./index.ts";

const PARENT = "type.googleapis.com/test.Parent";
const CHILD = "type.googleapis.com/test.Child";
const OTHER = "type.googleapis.com/test.Other";
const textOf = (payload: Uint8Array): string => Buffer.from(payload).toString();
const types: readonly ResourceType[] = [
  { typeUrl: CHILD, refersTo: [PARENT, OTHER], keepWhileReferenced: true },
  {
    typeUrl: PARENT,
    references: (payload) =>
      textOf(payload)
        .split(" ")
        .map((name) => ({ typeUrl: CHILD, name })),
  },
];

function useCache(): {
  readonly cache: Cache;
  readonly put: (typeUrl: string, name: string, text?: string) => void;
  readonly exists: (name: string) => boolean;
} {
  const cache = createCache({ types });
  return {
    cache,
    put: (typeUrl, name, text = "") => {
      cache.put({ typeUrl, name, value: Buffer.from(text) });
    },
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
    cache.transaction((writer) => {
      writer.complete(CHILD, { name: "*" });
    });
    expect(exists("c")).toBe(true);
    cache.remove(PARENT, "p");
    expect(exists("c")).toBe(false);
  });

  it("takes what nobody can read for something that refers to nothing, and what was to be told is told [S-REM-3]", () => {
    const broken: readonly ResourceType[] = [
      { typeUrl: CHILD, refersTo: [PARENT], keepWhileReferenced: true },
      {
        typeUrl: PARENT,
        references: () => {
          throw new Error("broken");
        },
      },
    ];
    const cache = createCache({ types: broken });
    for (const [typeUrl, name] of [
      [CHILD, "c"],
      [PARENT, "p"],
    ] as const)
      cache.put({ typeUrl, name, value: Buffer.from("") });
    const topic = cache.topic(CHILD, { name: "d" });
    let wakes = 0;
    topic.watch({
      wake: () => {
        wakes++;
      },
    });
    cache.commit({
      put: [
        {
          typeUrl: CHILD,
          resource: { name: "d", version: "", payload: { typeUrl: CHILD, value: Buffer.from("") } },
        },
      ],
      remove: [{ typeUrl: CHILD, name: "c" }],
    });
    expect([wakes, cache.topic(CHILD, { name: "c" }).members()[0]?.resource]).toEqual([
      1,
      undefined,
    ]);
  });

  it("costs the same for each of many that are kept, in one transaction and in those after it [S-LIM-6]", () => {
    const [few, many] = [100, 1_000].map((count) => {
      let reads = 0;
      const counting: readonly ResourceType[] = [
        { typeUrl: CHILD, refersTo: [PARENT], keepWhileReferenced: true },
        {
          typeUrl: PARENT,
          references: (payload) => [
            {
              typeUrl: CHILD,
              get name() {
                reads++;
                return textOf(payload);
              },
            },
          ],
        },
      ];
      const cache = createCache({ types: counting });
      const [children, parents] = [CHILD, PARENT].map((typeUrl) =>
        Array.from({ length: count }, (_, n) => ({
          typeUrl,
          resource: { name: `${n}`, version: "", payload: { typeUrl, value: Buffer.from(`${n}`) } },
        })),
      );
      cache.commit({ put: [...(children ?? []), ...(parents ?? [])] });
      cache.commit({
        remove: Array.from({ length: count }, (_, n) => ({ typeUrl: CHILD, name: `${n}` })),
      });
      cache.commit({ remove: [{ typeUrl: PARENT, name: "0" }] });
      expect([...cache.held(CHILD)]).toHaveLength(count - 1);
      return reads / count;
    });
    expect([few, many]).toEqual([1, 1]);
  });
});
