import type { Entry } from "@xdstp/core";

const MODULUS = 2 ** 52;

/** A sum of content hashes, modulo 2^52; a negative one is taken out of it. No step is above 2^53, where numbers have gaps, so the order does not matter. */
export function addHash(sum: number, hash: number): number {
  return (sum + (hash < 0 ? hash + MODULUS : hash)) % MODULUS;
}

/** The sum over a set of entries. */
export function hashOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { resource }) => addHash(sum, resource?.hash ?? 0), 0);
}

/** A `version_info`: equal for equal sets, in every replica and after every restart; never empty (S-VER-2, S-VER-4, S-VER-7). */
export function versionOf(hash: number): string {
  return hash.toString(36);
}
