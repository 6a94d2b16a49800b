import type { Entry } from "@xdstp/core";

const MODULUS = 2 ** 52;

/** A sum of content hashes, modulo 2^52; a negative one is taken out of it. No step is above 2^53, where numbers have gaps, so the order does not matter. */
export function addHash(sum: number, hash: number): number {
  // A comparison is cheaper than the remainder of a division for numbers of this size.
  const both = sum + (hash < 0 ? hash + MODULUS : hash);
  return both < MODULUS ? both : both - MODULUS;
}

/** The sum over a set of entries. */
export function hashOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { resource }) => addHash(sum, resource?.hash ?? 0), 0);
}

let last = { hash: 0, text: "0" };

/** The version of a state as text, by the sum of its hashes: equal for equal sets, in both variants, in every replica and after every restart; never empty (S-VER-2, S-VER-4, S-VER-7). */
export function versionOf(hash: number): string {
  // Streams that are served one after the other mostly have the same state.
  if (last.hash !== hash) last = { hash, text: toBase36(hash) };
  return last.text;
}

/** Five digits of base 36. */
const FIVE_DIGITS = 36 ** 5;

/** The same text as `toString(36)`, which takes ten times as long for what is above 2^31. */
function toBase36(hash: number): string {
  const high = Math.floor(hash / FIVE_DIGITS);
  const low = (hash - high * FIVE_DIGITS).toString(36);
  return high === 0 ? low : high.toString(36) + low.padStart(5, "0");
}
