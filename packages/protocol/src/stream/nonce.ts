let last = 0;

/**
 * The next nonce of this process. One counter for all streams, drawn when a frame is encoded, so that one frame serves every stream in the same state (S-NONCE-1).
 */
export function nextNonce(): number {
  return ++last;
}
