/** A small generator of random numbers that a seed determines (mulberry32). */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  pick<V>(values: readonly V[]): V;
  chance(probability: number): boolean;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (values) => {
      const value = values[int(values.length)];
      if (value === undefined) throw new Error("nothing to pick from");
      return value;
    },
  };
}

/** Returns the seed of a run: from the environment, to repeat one, else a new one. */
export function chooseSeed(): number {
  return Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 2 ** 31));
}

/** Returns the number of steps: all of them with XDSTP_SCALE=1, a hundredth without. */
export function scaled(full: number): number {
  return Math.ceil(full * Number(process.env.XDSTP_SCALE ?? "0.01"));
}
