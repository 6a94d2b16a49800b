import type { ByteStreamHandler, Message } from "@xdstp/core";

/** Bytes in front of the message in `Message.enveloped`. */
const ENVELOPE = 5;

/** Hands a message over. Its bytes belong to the wire: who keeps them finds them changed. */
export function lend(message: Uint8Array, handler: ByteStreamHandler): void {
  const bytes = new Uint8Array(message);
  handler.onMessage(bytes);
  bytes.fill(0xff);
}

/** Throws where the two forms of a message differ. */
export function checkEnvelope({ bytes, enveloped }: Message): void {
  const head = new DataView(
    enveloped.buffer,
    enveloped.byteOffset,
    Math.min(enveloped.length, ENVELOPE),
  );
  const fits =
    enveloped.length === ENVELOPE + bytes.length &&
    head.getUint8(0) === 0 &&
    head.getUint32(1) === bytes.length;
  if (!fits || Buffer.compare(enveloped.subarray(ENVELOPE), bytes) !== 0) {
    throw new Error("enveloped is not the message behind a zero byte and its length in four bytes");
  }
}
