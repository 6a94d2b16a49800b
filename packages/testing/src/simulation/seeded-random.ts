/** Random numbers from a seed: the same seed gives the same numbers on every machine. */
export interface SeededRandom {
  /** Returns a number from 0 up to 1. */
  next(): number;
  /** Returns an integer from 0 to below `limit`. */
  below(limit: number): number;
  /** Returns an integer from `least` to `most`, both included. */
  between(least: number, most: number): number;
  /** Returns true once in `times` calls on average. */
  once(times: number): boolean;
  /** Returns one of the elements. Throws if there are none. */
  pick<T>(from: readonly T[]): T;
  /**
   * Returns random numbers for a part of the whole, so that the numbers that one part draws do not
   * affect another part.
   */
  fork(label: number): SeededRandom;
}

/**
 * Creates random numbers from a seed; the same ones on every machine.
 * @param seed - An integer; only its lowest 32 bits count
 */
export function createSeededRandom(seed: number): SeededRandom {
  const origin = mix(seed >>> 0);
  let state = origin;
  const bits = (): number => mix((state = (state + STEP) >>> 0));
  const below = (limit: number): number => Math.floor((bits() / RANGE) * limit);
  return {
    next: () => bits() / RANGE,
    below,
    between: (least, most) => least + below(most - least + 1),
    once: (times) => below(times) === 0,
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) throw new RangeError("there is nothing to pick from");
      return from[below(from.length)] as T;
    },
    fork: (label) => createSeededRandom(mix(origin ^ mix((label + 1) >>> 0))),
  };
}

const RANGE = 2 ** 32;
/** The golden ratio, as 32 bits. */
const STEP = 0x9e3779b9;

/** The finalizer of MurmurHash3: neighboring inputs result in distant outputs. */
function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
