/** Numbers from a seed: the same seed gives the same numbers, on every machine. */
export interface SeededRandom {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  /** true once in `times`. */
  once(times: number): boolean;
  /** Throws where there is nothing to pick from. */
  pick<T>(from: readonly T[]): T;
  /** Numbers of their own for a part of the whole, so that what one part draws changes nothing for another. */
  fork(label: number): SeededRandom;
}

/**
 * Random numbers that follow from a seed, the same ones on every machine.
 * @param seed - A whole number; only its lowest 32 bits count
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

/** The finaliser of MurmurHash3: neighbours come out far from each other. */
function mix(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
