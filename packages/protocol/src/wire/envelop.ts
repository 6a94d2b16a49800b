import type { Message } from "@xdstp/core";
import { allocateBytes } from "@xdstp/core/wire";

/** The number of bytes before a message in gRPC: a flag (0, not compressed) and the length. */
const ENVELOPE = 5;

/** Joins parts to a message, in a new buffer with its envelope. */
export function envelop(parts: readonly Uint8Array[]): Message {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const enveloped = allocateBytes(ENVELOPE + length);
  enveloped[0] = 0;
  for (let i = 1; i < ENVELOPE; i++) enveloped[i] = length >>> (8 * (ENVELOPE - 1 - i));
  let at = ENVELOPE;
  for (const part of parts) {
    enveloped.set(part, at);
    at += part.length;
  }
  return { bytes: enveloped.subarray(ENVELOPE), enveloped };
}
