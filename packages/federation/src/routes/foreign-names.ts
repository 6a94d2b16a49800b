/** The names in one response that the configuration maps to other servers (C-AUTH-7). */
export interface ForeignNames {
  readonly count: number;
  /** A hash of the set of names, independent of their order. */
  readonly hash: number;
}

/** Adds one name. The name itself is not stored, since a server may send many. */
export function withName(
  { count, hash }: ForeignNames = { count: 0, hash: 0 },
  name: string,
): ForeignNames {
  return { count: count + 1, hash: (hash + hashOf(name)) % MODULUS };
}

/** The range of a hash. The sum of two hashes is below 2^53, so it is exact. */
const MODULUS = 2 ** 52;

/** A hash of 52 bits: FNV-1a over UTF-16 units, from two start values. */
function hashOf(text: string): number {
  return (fnv(text, 0x811c9dc5) >>> 12) * 2 ** 32 + fnv(text, 0x9747b28c);
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
