/** Numbers from a seed. */
export interface Random {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number;
  /** One of these. */
  pick<T>(from: readonly [T, ...T[]]): T;
}

/** A xorshift generator: small, and the same everywhere. */
export function createRandom(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const below = (limit: number): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
  return { below, pick: (from) => from[below(from.length)] ?? from[0] };
}
