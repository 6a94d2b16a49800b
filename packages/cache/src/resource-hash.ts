const LOW = 2 ** 32;
const SPACE = 2 ** 52;

/**
 * A 52-bit hash of name and version, the same in every replica and release (S-VER-2, S-VER-4).
 *
 * Two 32-bit lanes take each UTF-16 unit of the name, a zero, and each unit of the version; then each is mixed with the other. It need not resist an attacker: the sum over a set would not either.
 */
export function resourceHash(name: string, version: string): number {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (const text of [name, version]) {
    for (let i = 0; i <= text.length; i++) {
      const unit = i < text.length ? text.charCodeAt(i) : 0;
      a = Math.imul(a ^ unit, 0x9e3779b1);
      b = Math.imul(b ^ unit, 0x5f356495);
    }
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0xfffff) * LOW + (a >>> 0);
}

/** The hash of a set with one member more. */
export function hashWith(sum: number, hash: number): number {
  return (sum + hash) % SPACE;
}

/** The hash of a set with one member less. */
export function hashWithout(sum: number, hash: number): number {
  return (sum - hash + SPACE) % SPACE;
}
