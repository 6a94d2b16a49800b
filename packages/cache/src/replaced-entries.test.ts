import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { is, limitedTo } from "../test/variants.ts";
import { createCache } from "./index.ts";

const typeUrl = "type.googleapis.com/acme.v1.Flag";

describe("cache.asOf()", () => {
  const valueOf = (
    cache: ReturnType<typeof createCache>,
    name: string,
    revision: number,
  ): string | undefined => {
    const entry = cache.asOf(typeUrl, name, revision);
    return entry?.resource === undefined
      ? undefined
      : Buffer.from(entry.resource.payload.value).toString().slice(0, 4);
  };

  it("gives a name as it was at a revision, the very entry and no copy, through removals and under an alias [B-CSDS-2]", () => {
    const cache = createCache();
    const topic = cache.topic(typeUrl, { name: "a" });
    topic.watch({ wake: () => undefined });
    cache.put({ typeUrl, name: "a", value: Buffer.from("one"), aliases: ["other"] });
    const first = topic.get("a");
    cache.put({ typeUrl, name: "b", value: Buffer.from("b") });
    cache.put({ typeUrl, name: "a", value: Buffer.from("two"), aliases: ["other"] });
    cache.remove(typeUrl, "a");
    cache.put({ typeUrl, name: "a", value: Buffer.from("four"), aliases: ["other"] });
    expect([1, 2, 3, 4, 5, 9].map((revision) => valueOf(cache, "a", revision))).toEqual([
      "one",
      "one",
      "two",
      undefined,
      "four",
      "four",
    ]);
    expect(cache.asOf(typeUrl, "a", 2)).toBe(first);
    expect(cache.asOf(typeUrl, "other", 2)).toBe(first);
    expect(cache.asOf(typeUrl, "a", 0)).toBeUndefined();
    expect(cache.asOf(typeUrl, "never", 9)).toBeUndefined();
    expect(cache.asOf("type.googleapis.com/acme.v1.Never", "a", 9)).toBeUndefined();
  });

  it("keeps so many bytes of each type, the oldest go first, and always the newest [B-CSDS-2]", () => {
    const cache = createCache({ replacedBytes: 7_000 });
    for (let count = 0; count < 300; count++)
      cache.put({ typeUrl, name: "a", value: Buffer.from(String(count).padEnd(1_000)) });
    const kept = Array.from({ length: 300 }, (_, index) => index + 1).filter(
      (revision) => valueOf(cache, "a", revision) !== undefined,
    );
    expect(kept).toEqual([298, 299, 300]);
    cache.put({ typeUrl: "type.googleapis.com/acme.v1.Other", name: "a", value: Buffer.alloc(10) });
    cache.put({ typeUrl: "type.googleapis.com/acme.v1.Other", name: "a", value: Buffer.alloc(11) });
    expect(valueOf(cache, "a", 298)).toBe("297 ");
    cache.put({ typeUrl, name: "a", value: Buffer.alloc(9_000) });
    cache.put({ typeUrl, name: "a", value: Buffer.from("last") });
    expect(cache.asOf(typeUrl, "a", 303)?.resource?.payload.value).toHaveLength(9_000);
    expect(valueOf(cache, "a", 300)).toBeUndefined();
  });

  it("releases the memory of what it keeps no longer, also before its queue is compacted [B-CSDS-2]", async () => {
    setFlagsFromString("--expose-gc");
    const collectGarbage = runInNewContext("gc") as () => void;
    const cache = createCache({ replacedBytes: 1 });
    const states = Array.from({ length: 200 }, (_, count) => {
      cache.put({ typeUrl, name: "a", value: Buffer.from(String(count)) });
      return new WeakRef(cache.asOf(typeUrl, "a", count + 1) ?? {});
    });
    // A WeakRef holds what it was made of until the turn is over.
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    collectGarbage();
    expect(states.filter((state) => state.deref() !== undefined).length).toBeLessThanOrEqual(2);
  });

  it("says nothing of a name with variants: which one was shown, parameters decide [B-CSDS-2] [S-DYN-2]", () => {
    const cache = createCache();
    cache.put({ typeUrl, name: "a", value: Buffer.from("one") });
    cache.remove(typeUrl, "a");
    expect(valueOf(cache, "a", 1)).toBe("one");
    for (const text of ["prod", "next"])
      cache.put({ typeUrl, name: "a", value: Buffer.from(text), ...limitedTo(is("env", "prod")) });
    expect([1, 2, 3, 4].map((revision) => valueOf(cache, "a", revision))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("keeps nothing where that is wanted", () => {
    const cache = createCache({ replacedBytes: 0 });
    cache.put({ typeUrl, name: "a", value: Buffer.from("one") });
    cache.put({ typeUrl, name: "a", value: Buffer.from("two") });
    expect(valueOf(cache, "a", 1)).toBeUndefined();
    expect(valueOf(cache, "a", 2)).toBe("two");
  });
});
