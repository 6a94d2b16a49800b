import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { Expiries } from "./expiries.ts";
import { createCache, type Cache } from "./index.ts";
import { planTransaction } from "./transaction-plan.ts";
import { readName } from "./read-name.ts";

const TYPE = "type.googleapis.com/test.Type";

function useCache(): {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly cache: Cache;
  readonly put: (name: string, expireMs?: number) => void;
  readonly held: () => readonly string[];
} {
  const clock = createFakeClock();
  const cache = createCache({ clock });
  return {
    clock,
    cache,
    put(name, expireMs) {
      cache.put({
        typeUrl: TYPE,
        name,
        value: new Uint8Array(),
        ...(expireMs === undefined ? {} : { expireMs }),
      });
    },
    held: () => [...cache.held(TYPE)].map(({ name }) => name).sort(),
  };
}

function useExpiries(): {
  readonly clock: ReturnType<typeof createFakeClock>;
  readonly expiries: Expiries;
  readonly expired: string[];
  readonly refresh: (name: string, expireMs: number) => void;
} {
  const clock = createFakeClock();
  const expired: string[] = [];
  const expiries = new Expiries(clock, (due) => {
    for (const { text } of due) expired.push(text);
  });
  const refresh = (name: string, expireMs: number): void => {
    expiries.refresh(TYPE, readName(name), name, expireMs);
  };
  return { clock, expiries, expired, refresh };
}

describe("a resource that expires", () => {
  it.each([-3_600_000, 3_600_000])(
    "is removed after its time, whatever the wall clock does: a step of %d ms [S-TTL-11]",
    (step) => {
      const { clock, put, held } = useCache();
      put("a", 1_000);
      clock.advance(500);
      clock.stepWallTime(step);
      clock.advance(499);
      expect(held()).toEqual(["a"]);
      clock.advance(1);
      expect(held()).toEqual([]);
    },
  );

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

  it("stays if it is put again before, even with equal content, which is not a change [S-TTL-11]", () => {
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

  it("goes with all others of its time, be they more than a call has arguments [S-TTL-11]", () => {
    const { clock, cache, held } = useCache();
    const names = Array.from({ length: 200_000 }, (_, n) => `n${n}`);
    void cache.commit({
      put: names.map((name) => ({
        typeUrl: TYPE,
        resource: {
          name,
          version: "1",
          expireMs: 1_000,
          payload: { typeUrl: TYPE, value: new Uint8Array() },
        },
      })),
    });
    clock.advance(1_000);
    expect(held()).toEqual([]);
  });

  it("is refreshed at once, whatever times a server gives [C-TTL-3]", () => {
    const { clock, expiries, refresh } = useExpiries();
    const names = Array.from({ length: 50_000 }, (_, n) => n + 1);
    for (const n of names) refresh(`n${n}`, 10_000 + n);
    for (const n of names) refresh(`n${n}`, 100_000 + n);
    expect([clock.pending, expiries.size <= 3 * names.length]).toEqual([1, true]);
  });

  it("does not grow by being refreshed, with one time or another [C-LIM-7]", () => {
    const { expiries, refresh } = useExpiries();
    for (let n = 1; n <= 10_000; n++) refresh("a", 1e9);
    expect(expiries.size).toBeLessThan(1_100);
    for (let n = 1; n <= 10_000; n++) refresh("a", 1e9 + n);
    expect(expiries.size).toBeLessThan(1_100);
  });

  it("goes at the time that it was given last, also where many were given [C-TTL-3]", () => {
    const { clock, expired, refresh } = useExpiries();
    for (let n = 1; n <= 5_000; n++) refresh("a", 10_000 - n);
    refresh("b", 20_000);
    for (let n = 1; n <= 5_000; n++) refresh("a", 30_000 - n);
    clock.advance(20_000);
    expect(expired).toEqual(["b"]);
    clock.advance(5_000);
    expect(expired).toEqual(["b", "a"]);
  });

  it("costs the same for one time of its own as for the time of all, but for the logarithm of how many there are [S-LIM-6]", () => {
    const [few, many] = [100, 10_000].map((count) => {
      const { clock, expiries, expired, refresh } = useExpiries();
      for (let n = 0; n < count; n++) refresh(`n${n}`, 100_000 - n);
      const before = expiries.work;
      clock.advance(100_000 - count);
      for (let n = 0; n < count; n++) {
        clock.advance(1);
        expiries.note(
          planTransaction({ remove: [{ typeUrl: TYPE, name: "other" }] }, () => undefined),
        );
      }
      expect(expired).toHaveLength(count);
      return (expiries.work - before) / count;
    });
    expect([(few ?? 0) < 2 * 8, (many ?? 0) < 2 * 14]).toEqual([true, true]);
  });

  it("costs one step where all have the same time", () => {
    const { clock, expiries, refresh } = useExpiries();
    for (let n = 0; n < 10_000; n++) {
      refresh(`n${n}`, 1_000_000);
      clock.advance(1);
    }
    expect(expiries.work).toBeLessThan(10_000);
  });

  it("is held with what is left of its time; one that stays has none [C-TTL-4]", () => {
    const { clock, cache, put } = useCache();
    const left = (): readonly (readonly [string, number | undefined])[] =>
      Array.from(cache.held(TYPE), ({ name, expireMs }) => [name, expireMs]);
    put("a", 1_000);
    put("stays");
    clock.advance(900);
    expect(left()).toEqual([
      ["a", 100],
      ["stays", undefined],
    ]);
    put("a", 1_000);
    expect(left()).toEqual([
      ["a", 1_000],
      ["stays", undefined],
    ]);
    put("a");
    expect(left()).toEqual([
      ["a", undefined],
      ["stays", undefined],
    ]);
  });

  it.each([0, -1, Number.NaN])("is rejected with a time of %s ms [S-TTL-11]", (expireMs) => {
    const { put } = useCache();
    expect(() => {
      put("a", expireMs);
    }).toThrow("a time");
  });

  it("leaves no timer behind when the cache is closed", async () => {
    const { clock, cache, put } = useCache();
    put("a", 1_000);
    await cache.close();
    expect(clock.pending).toBe(0);
  });
});
