/** The few shapes of ASN.1 DER that a certificate is made of (X.690). Each function gives one encoded value. */
function encode(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.of(tag), lengthOf(body.length), body]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  const short = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
  return Buffer.concat([Buffer.of(0x80 | short.length), short]);
}

/** SEQUENCE. */
export function sequence(...members: readonly Uint8Array[]): Buffer {
  return encode(0x30, ...members);
}
/** SET OF; several members have to be in the order of their bytes. */
export function setOf(...members: readonly Uint8Array[]): Buffer {
  return encode(0x31, ...members);
}
/** OCTET STRING. */
export function octetString(bytes: Uint8Array): Buffer {
  return encode(0x04, bytes);
}
/** BIT STRING of whole bytes. */
export function bitString(bytes: Uint8Array): Buffer {
  return encode(0x03, Buffer.of(0), bytes);
}
/** UTF8String. */
export function utf8String(text: string): Buffer {
  return encode(0x0c, Buffer.from(text));
}
/** BOOLEAN. */
export function derBoolean(value: boolean): Buffer {
  return encode(0x01, Buffer.of(value ? 0xff : 0));
}

/** A positive whole number; its highest bit must be 0. */
export function derInteger(bytes: Uint8Array): Buffer {
  return encode(0x02, bytes);
}

/** GeneralizedTime, to the second. */
export function derTime(date: Date): Buffer {
  return encode(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, "").slice(0, 14)}Z`));
}

/** `[tag]` around a whole value. */
export function explicitTag(tag: number, value: Uint8Array): Buffer {
  return encode(0xa0 | tag, value);
}

/** `[tag]` instead of the tag of a string. */
export function contextTag(tag: number, bytes: Uint8Array): Buffer {
  return encode(0x80 | tag, bytes);
}

/** OBJECT IDENTIFIER, by its numbers. */
export function objectId(first: number, second: number, ...rest: readonly number[]): Buffer {
  return encode(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift(0x80 | (left & 0x7f));
  return digits;
}
