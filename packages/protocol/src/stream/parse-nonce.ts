/** The number of a nonce of ours; -1 for one that we never sent. */
export function parseNonce(nonce: string): number {
  return /^[1-9]\d{0,14}$/.test(nonce) ? Number(nonce) : -1;
}
