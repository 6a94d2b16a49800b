/** Returns the number in a nonce of this server; -1: this server never sends such a nonce. */
export function parseNonce(nonce: string): number {
  return /^[1-9]\d{0,14}$/.test(nonce) ? Number(nonce) : -1;
}
