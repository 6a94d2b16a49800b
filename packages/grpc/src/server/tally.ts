/** Counts per key and in total, up to two limits. */
export interface Tally {
  /** Adds one. Returns false if a limit is reached; then nothing is counted. */
  add(key: string): boolean;
  /** Removes one that was added. */
  remove(key: string): void;
}

/**
 * Creates a tally of at most `maxTotal`, and `maxPerKey` of one key. A key at zero needs no memory.
 */
export function createTally(maxTotal: number, maxPerKey: number): Tally {
  const open = new Map<string, number>();
  let total = 0;
  return {
    add(key) {
      const held = open.get(key) ?? 0;
      if (total >= maxTotal || held >= maxPerKey) return false;
      open.set(key, held + 1);
      total += 1;
      return true;
    },
    remove(key) {
      const held = open.get(key) ?? 0;
      if (held === 0) return;
      total -= 1;
      if (held === 1) open.delete(key);
      else open.set(key, held - 1);
    },
  };
}
