import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createCache, type Cache } from "./index.ts";

const TYPE = "type.googleapis.com/test.Type";

function useCache(): { readonly clock: ReturnType<typeof createFakeClock>; readonly cache: Cache; readonly put: (name: string, expireMs?: number) => void; readonly held: () => readonly string[] } {
  const clock = createFakeClock();
  const cache = createCache({ clock });
  return {
    clock, cache,
    put(name, expireMs) { cache.put({ typeUrl: TYPE, name, value: new Uint8Array(), ...(expireMs === undefined ? {} : { expireMs }) }); },
    held: () => [...cache.held(TYPE)].map(({ name }) => name).sort(),
  };
}

describe("a resource that expires", () => {
  it("is removed when its time is over, as by hand, and those of one moment in one revision [S-TTL-11]", () => {
    const { clock, cache, put, held } = useCache();
    put("a", 1_000);
    put("b", 1_000);
    put("stays");
    const topic = cache.topic(TYPE, { name: "a" });
    topic.watch({ wake: () => undefined });
    const { revision } = cache;
    clock.advance(999);
    expect(held()).toEqual(["a", "b", "stays"]);
    clock.advance(1);
    expect(held()).toEqual(["stays"]);
    expect(cache.revision).toBe(revision + 1);
    expect(topic.changes(revision)).toMatchObject([{ name: "a", revision: revision + 1 }]);
    expect(topic.members()[0]?.resource).toBeUndefined();
    expect(clock.pending).toBe(0);
  });

  it("stays if it is put again before, even with equal content, which is no change [S-TTL-11]", () => {
    const { clock, cache, put, held } = useCache();
    put("a", 1_000);
    clock.advance(900);
    const before = cache.topic(TYPE, { name: "a" }).members();
    put("a", 1_000);
    expect(cache.topic(TYPE, { name: "a" }).members()).toEqual(before);
    clock.advance(900);
    expect(held()).toEqual(["a"]);
    clock.advance(100);
    expect(held()).toEqual([]);
  });

  it("stays for ever if it is put again without an end, and when it came back after a removal [S-TTL-11]", () => {
    const { clock, cache, put, held } = useCache();
    for (const name of ["a", "b"]) put(name, 1_000);
    put("a");
    cache.remove(TYPE, "b");
    put("b");
    clock.advance(10_000);
    expect(held()).toEqual(["a", "b"]);
  });

  it("goes at its own time, whatever the others have [S-TTL-11]", () => {
    const { clock, put, held } = useCache();
    put("late", 5_000);
    clock.advance(100);
    put("early", 1_000);
    put("later", 5_000);
    clock.advance(1_000);
    expect(held()).toEqual(["late", "later"]);
    clock.advance(3_900);
    expect(held()).toEqual(["later"]);
    clock.advance(100);
    expect(held()).toEqual([]);
  });

  it.each([0, -1, Number.NaN])("is refused with a time of %s ms [S-TTL-11]", (expireMs) => {
    const { put } = useCache();
    expect(() => { put("a", expireMs); }).toThrow("a time");
  });

  it("leaves no timer behind when the cache is closed", async () => {
    const { clock, cache, put } = useCache();
    put("a", 1_000);
    await cache.close();
    expect(clock.pending).toBe(0);
  });
});
