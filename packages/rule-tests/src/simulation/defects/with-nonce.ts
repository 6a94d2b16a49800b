import { lengthDelimited, walkFields } from "@xdstp/core/wire";
import type { Message } from "@xdstp/core";

const NONCE = 5;

/** The same response, byte for byte, under another nonce. That is its last field. */
export function withNonce({ bytes }: Message, nonce: number): Message {
  let end = bytes.length;
  walkFields(bytes, (field, from) => {
    if (field === NONCE) end = from - 2; // its tag, and a length of one byte
    return undefined;
  });
  const message = Buffer.concat([bytes.subarray(0, end), lengthDelimited(NONCE, String(nonce))]);
  const enveloped = Buffer.concat([Buffer.alloc(5), message]);
  enveloped.writeUInt32BE(message.length, 1);
  return { enveloped, bytes: enveloped.subarray(5) };
}
