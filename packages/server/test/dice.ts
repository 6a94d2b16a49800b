/** Random choices; the same seed gives the same ones. */
export interface Dice {
  readonly seed: number;
  /** A whole number below a bound. */
  readonly below: (bound: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
  /** So many bytes. */
  readonly bytes: (length: number) => Buffer;
  /** Fewer bytes than so many. */
  readonly noise: (most: number) => Buffer;
}

/** Dice with a seed (mulberry32). */
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
