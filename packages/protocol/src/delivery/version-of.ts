import type { Entry } from "@xdstp/core";

const MODULUS = 2 ** 52;

/**
 * Adds a content hash to a sum, modulo 2^52; a negative hash is subtracted. No intermediate result
 * exceeds 2^53, so the result does not depend on the order.
 */
export function addHash(sum: number, hash: number): number {
  // For numbers of this size a comparison is cheaper than the remainder of a division.
  const both = sum + (hash < 0 ? hash + MODULUS : hash);
  return both < MODULUS ? both : both - MODULUS;
}

/** Returns the sum of the hashes of entries, modulo 2^52. */
export function hashOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { resource }) => addHash(sum, resource?.hash ?? 0), 0);
}

let last = { hash: 0, text: "0" };

/**
 * Returns the version of a state as text, from the sum of its hashes. Equal sets have equal
 * versions, in both variants, in every replica and after every restart; never empty (S-VER-2,
 * S-VER-4, S-VER-7).
 */
export function versionOf(hash: number): string {
  // Streams that are served one after another mostly have the same state.
  if (last.hash !== hash) last = { hash, text: toBase36(hash) };
  return last.text;
}

/** The number of values of five digits in base 36. */
const FIVE_DIGITS = 36 ** 5;

/** Returns the same text as `toString(36)`, which is ten times slower for numbers above 2^31. */
function toBase36(hash: number): string {
  const high = Math.floor(hash / FIVE_DIGITS);
  const low = (hash - high * FIVE_DIGITS).toString(36);
  return high === 0 ? low : high.toString(36) + low.padStart(5, "0");
}
