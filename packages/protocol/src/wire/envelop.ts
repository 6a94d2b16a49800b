import type { Message } from "@xdstp/core";

/** Bytes before a message on the wire: no compression, and its length. */
const ENVELOPE = 5;

/** A message made of these parts, one after another, in a buffer of its own with its envelope. */
export function envelop(parts: readonly Uint8Array[]): Message {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const enveloped = Buffer.allocUnsafeSlow(ENVELOPE + length);
  enveloped[0] = 0;
  enveloped.writeUInt32BE(length, 1);
  let at = ENVELOPE;
  for (const part of parts) {
    enveloped.set(part, at);
    at += part.length;
  }
  return { bytes: enveloped.subarray(ENVELOPE), enveloped };
}
