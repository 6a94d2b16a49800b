/** The parts of a message behind the five bytes of gRPC, in one buffer. */
export function envelope(parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = Buffer.allocUnsafeSlow(5 + length);
  bytes[0] = 0;
  bytes.writeUInt32BE(length, 1);
  let at = 5;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
