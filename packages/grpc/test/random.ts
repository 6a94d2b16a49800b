/** Returns the size of a random test: `full` with XDSTP_SCALE=1, a hundredth of it by default. */
export function scaled(full: number): number {
  return Math.max(1, Math.round(full * Number(process.env.XDSTP_SCALE ?? "0.01")));
}

/**
 * The seed of this run: XDSTP_SEED, or a new one. Tests include it in the values that they compare,
 * so that a failure shows it.
 */
export function seedOf(): number {
  return Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 0x7fff_ffff));
}

/**
 * Creates a generator of random integers below a bound. The same seed gives the same numbers
 * (mulberry32).
 */
export function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
