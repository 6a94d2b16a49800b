/** Random choices. The same seed gives the same choices. */
export interface Dice {
  readonly seed: number;
  /** Returns an integer below a bound. */
  readonly below: (bound: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
  /** Returns this number of random bytes. */
  readonly bytes: (length: number) => Buffer;
  /** Returns random bytes, fewer than this number. */
  readonly noise: (most: number) => Buffer;
}

/** Creates dice with a seed (mulberry32). */
export function createDice(seed: number): Dice {
  let state = seed;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(256)));
  return {
    seed,
    below,
    bytes,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    noise: (most) => bytes(below(most)),
  };
}
