/** The parts one after another, in a buffer of their own. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const target = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    target.set(part, at);
    at += part.length;
  }
  return target;
}
