import { describe, expect, it } from "vitest";

import { ChangeLog } from "./change-log.ts";
import { StateEntry } from "./state-entry.ts";

function fill(log: ChangeLog, names: number, revisions: number): void {
  const newest = new Map<string, StateEntry>();
  for (let revision = 1; revision <= revisions; revision++) {
    const name = `n${revision % names}`;
    const old = newest.get(name);
    old?.supersede();
    if (old !== undefined) log.bury();
    const entry = new StateEntry({ revision, name, tombstone: true });
    newest.set(name, entry);
    log.append(entry);
  }
}

describe("ChangeLog", () => {
  it("does not grow with the number of changes", () => {
    let steps = 0;
    const log = new ChangeLog((more) => {
      steps += more;
    });
    fill(log, 10, 10_000);
    expect(log.length).toBe(10);
    steps = 0;
    expect(log.after(0)).toHaveLength(10);
    expect(steps).toBeLessThan(2 * (64 + 2 * 10));
  });

  it("spends one to two steps per change on sweeping", () => {
    let steps = 0;
    fill(
      new ChangeLog((more) => {
        steps += more;
      }),
      1000,
      100_000,
    );
    expect(steps).toBeGreaterThan(0);
    expect(steps / 100_000).toBeLessThan(2.1);
  });
});
