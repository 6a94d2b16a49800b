/** Names of one response that are none of the business of its server (C-AUTH-7). */
export interface ForeignNames {
  readonly count: number;
  /** Equal for equal sets of names, in whatever order they come. */
  readonly hash: number;
}

/** With one name more. Nothing is kept of the name: a server may send many of them. */
export function withName(
  { count, hash }: ForeignNames = { count: 0, hash: 0 },
  name: string,
): ForeignNames {
  return { count: count + 1, hash: (hash + hashOf(name)) % MODULUS };
}

/** Sums of two hashes stay exact. */
const MODULUS = 2 ** 52;

/** FNV-1a over UTF-16 units, twice with another start: 52 bits. */
function hashOf(text: string): number {
  return (fnv(text, 0x811c9dc5) >>> 12) * 2 ** 32 + fnv(text, 0x9747b28c);
}

function fnv(text: string, start: number): number {
  let hash = start;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
