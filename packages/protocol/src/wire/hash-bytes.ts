/**
 * Returns a 53-bit hash of `bytes[start, end)`. It shows that a name list has changed without
 * decoding it.
 * It is not cryptographic: a client that makes two lists with the same hash deceives only its own
 * stream.
 */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  let low = end - start;
  let high = ~low;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word = view.getInt32(at, true);
    low = mix(low, word, 0x85ebca6b);
    high = mix(high, word, 0xc2b2ae35);
  }
  for (; at < end; at++) {
    low = mix(low, view.getUint8(at), 0x85ebca6b);
    high = mix(high, view.getUint8(at), 0xc2b2ae35);
  }
  return (avalanche(high ^ (low >>> 7)) & 0x1fffff) * 0x1_0000_0000 + avalanche(low ^ (high >>> 9));
}

/** One round of MurmurHash3, with a multiplier of its own for each half. */
function mix(hash: number, word: number, multiplier: number): number {
  const product = Math.imul(word, multiplier);
  const mixed = hash ^ Math.imul((product << 15) | (product >>> 17), 0x1b873593);
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0;
}

/** The last step of MurmurHash3: each bit of the input changes half of the bits of the result. */
function avalanche(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
