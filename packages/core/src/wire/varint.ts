/** Most bytes of a varint: 64 bits in groups of seven. */
export const MAX_VARINT = 10;

/** Where the varint that begins at `at` ends; -1 where it does not end before `end`, or is not a varint. */
export function varintEnd(bytes: Uint8Array, at: number, end: number): number {
  const limit = Math.min(end, at + MAX_VARINT);
  for (let i = at; i < limit; i++) {
    if ((bytes[i] ?? 0) < 0x80) return i + 1;
  }
  return -1;
}

/** The varint in `[at, next)` as a number; exact below 2^53. `next` is where it ends. */
export function varintValue(bytes: Uint8Array, at: number, next: number): number {
  let value = 0;
  for (let i = next - 1; i >= at; i--) value = value * 128 + ((bytes[i] ?? 0) & 0x7f);
  return value;
}

/** How many bytes a varint takes; for whole numbers from 0 to 2^53 - 1. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Writes a varint into `target` at `at`; returns where it ends. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let i = at;
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) target[i++] = (rest % 128) | 0x80;
  target[i++] = rest;
  return i;
}
