import type { Message } from "@xdstp/core";

/** Bytes in front of the message in `Message.enveloped`. */
const ENVELOPE = 5;

/** Encoded bytes as a byte stream sends them. */
export function messageOf(bytes: Uint8Array): Message {
  const enveloped = new Uint8Array(ENVELOPE + bytes.length);
  new DataView(enveloped.buffer).setUint32(1, bytes.length);
  enveloped.set(bytes, ENVELOPE);
  return { enveloped, bytes: enveloped.subarray(ENVELOPE) };
}
