import { describe, expect, it } from "vitest";

import { CompactedLog } from "./compacted-log.ts";

interface Row {
  readonly revision: number;
  dead: boolean;
}

function fill(log: CompactedLog<Row>, names: number, revisions: number): void {
  const newest = new Map<number, Row>();
  for (let revision = 1; revision <= revisions; revision++) {
    const name = revision % names;
    const old = newest.get(name);
    if (old !== undefined) {
      old.dead = true;
      log.bury();
    }
    const entry = { revision, dead: false };
    newest.set(name, entry);
    log.append(entry);
  }
}

const isAlive = ({ dead }: Row): boolean => !dead;

describe("CompactedLog", () => {
  it("does not grow with the number of changes", () => {
    let steps = 0;
    const log = new CompactedLog<Row>(isAlive, (more) => {
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
      new CompactedLog<Row>(isAlive, (more) => {
        steps += more;
      }),
      1000,
      100_000,
    );
    expect(steps).toBeGreaterThan(0);
    expect(steps / 100_000).toBeLessThan(2.1);
  });

  it("gives the same array for revisions between the same two entries, until the next append or forget", () => {
    const log = new CompactedLog<Row>(isAlive);
    const rows = [2, 4, 6].map((revision) => ({ revision, dead: false }));
    for (const row of rows) log.append(row);
    const array = log.after(2);
    expect(array).toEqual(rows.slice(1));
    expect(log.after(3)).toBe(array);
    expect(log.after(6)).toEqual([]);
    (rows[2] as Row).dead = true;
    log.bury();
    expect(log.after(2)).toBe(array);
    (rows[1] as Row).dead = true;
    log.forget();
    expect(log.after(2)).toEqual([]);
    expect(log.filter(({ revision }) => revision < 5)).toEqual(rows.slice(0, 1));
  });

  it("keeps the array that a reader shares", () => {
    const log = new CompactedLog<Row>(isAlive);
    log.append({ revision: 1, dead: false });
    const other: readonly Row[] = [];
    expect(log.after(0, () => other)).toBe(other);
    expect(log.after(0)).toBe(other);
  });
});
