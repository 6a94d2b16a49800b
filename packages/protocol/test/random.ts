/** Random choices that a seed reproduces. */
export interface Random {
  /** A whole number from 0 to `below` - 1. */
  int(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The seed of this run: XDSTP_SEED, or a new one. The message of every failure names it. */
export const seed = Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** A size as the issue states it, at the scale of this run (XDSTP_SCALE; 1 is full size). */
export function scaled(size: number): number {
  return Math.max(1, Math.round(size * Number(process.env.XDSTP_SCALE ?? 0.01)));
}

/** The generator mulberry32. */
export function createRandom(start: number): Random {
  let state = start | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const int = (below: number): number => Math.floor(next() * below);
  return {
    int,
    chance: (probability) => next() < probability,
    pick: (from) => {
      const value = from[int(from.length)];
      if (value === undefined) throw new Error("nothing to pick from");
      return value;
    },
  };
}
