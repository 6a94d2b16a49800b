import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";

import { is, limitedTo } from "../test/variants.ts";
import { createCache } from "./index.ts";
import { NameRecord } from "./name-record.ts";
import { StateEntry } from "./state-entry.ts";
import { TombstoneWindow } from "./past-entries.ts";

function createScene(
  ms: number,
  count: number,
): { window: TombstoneWindow; dropped: string[]; add: (name: string, now: number) => StateEntry } {
  const dropped: string[] = [];
  const window = new TombstoneWindow({ ms, count }, (_, entry) => {
    dropped.push(entry.name);
  });
  const add = (name: string, now: number): StateEntry => {
    const entry = new StateEntry({ revision: 1, name, tombstone: true });
    window.add(new NameRecord(name, undefined, true), entry, now);
    return entry;
  };
  return { window, dropped, add };
}

/**
 * An entry that is dead (replaced by another one) or not, and that counts how often that is read.
 */
function countingEntry(name: string, dead: boolean, onLook: () => void): StateEntry {
  const entry = new StateEntry({ revision: 1, name, tombstone: true });
  return Object.defineProperty(entry, "dead", {
    get: () => {
      onLook();
      return dead;
    },
  });
}

describe("TombstoneWindow", () => {
  it("drops what is as old as its time, oldest first, once [S-RECON-10]", () => {
    const { window, dropped, add } = createScene(1000, 10);
    add("a", 0);
    add("b", 1);
    window.expire(999);
    expect([window.size, dropped]).toEqual([2, []]);
    window.expire(1000);
    expect([window.size, dropped]).toEqual([1, ["a"]]);
    window.expire(5000);
    window.expire(5000);
    expect([window.size, dropped]).toEqual([0, ["a", "b"]]);
  });

  it("drops the oldest when there are more than its count", () => {
    const { window, dropped, add } = createScene(1000, 2);
    for (const name of ["a", "b", "c"]) add(name, 0);
    window.expire(0);
    expect([window.size, dropped]).toEqual([2, ["a"]]);
  });

  it("neither counts nor drops an entry that a newer one of its name has replaced", () => {
    const { window, dropped, add } = createScene(1000, 2);
    const [a] = ["a", "b", "c"].map((name) => add(name, 0));
    a?.supersede();
    window.supersede();
    window.expire(0);
    expect([window.size, dropped]).toEqual([2, []]);
    window.expire(1000);
    expect(dropped).toEqual(["b", "c"]);
  });

  it("does not grow with names that come and go, at a cost of few looks each [S-LIM-4]", () => {
    const { window, dropped, add } = createScene(1000, 5000);
    const stays = Array.from({ length: 100 }, (_, index) => `stays${index}`);
    let looks = 0;
    const onLook = (): void => {
      looks++;
    };
    add("gone", -1000);
    for (const name of stays)
      window.add(new NameRecord(name, undefined, true), countingEntry(name, false, onLook), 0);
    window.expire(0);
    looks = 0;
    for (let i = 0; i < 10_000; i++) {
      window.add(new NameRecord("again", undefined, true), countingEntry("again", true, onLook), 0);
      window.supersede();
    }
    expect(looks).toBeLessThan(3 * 10_000);
    looks = 0;
    window.expire(1000);
    expect(looks).toBeLessThanOrEqual(64 + 2 * 100);
    expect([window.size, dropped]).toEqual([0, ["gone", ...stays]]);
  });
});

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
    // A WeakRef keeps its target until the turn is over.
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
