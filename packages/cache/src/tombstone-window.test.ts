import { describe, expect, it } from "vitest";

import { NameRecord } from "./name-record.ts";
import { StateEntry } from "./state-entry.ts";
import { TombstoneWindow } from "./tombstone-window.ts";

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

/** An entry that is dead (it has been followed by another) or not, and that counts who looks at that. */
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

  it("neither counts nor drops what is no longer the newest state of its name", () => {
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
