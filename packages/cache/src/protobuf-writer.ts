import { allocateBytes, writeText } from "@xdstp/core/wire";

/** Returns the length of a varint of `value`, which is a safe integer and not negative. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Returns the length of a length-delimited field with a number below 16. */
export function fieldLength(payloadLength: number): number {
  return 1 + varintLength(payloadLength) + payloadLength;
}

/** Writes protobuf into memory of a known size. Field numbers are below 16. */
export class ProtobufWriter {
  readonly bytes: Uint8Array;
  /** The index of the next byte. */
  position = 0;
  /**
   * The same memory as the platform gave it, into which it writes texts the fastest. On Node that is
   * a `Buffer`, and `bytes` is not, since `slice` of a `Buffer` makes no copy.
   */
  readonly #memory: Uint8Array;

  /** @param length - The size in bytes */
  constructor(length: number) {
    this.#memory = allocateBytes(length);
    this.bytes = new Uint8Array(this.#memory.buffer);
  }

  /** The bytes that were written, until more are. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.position);
  }

  /** Returns a copy of the bytes that were written. */
  copy(): Uint8Array {
    return this.bytes.slice(0, this.position);
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128))
      this.bytes[this.position++] = (rest % 128) | 128;
    this.bytes[this.position++] = rest;
  }

  /** Writes the tag and length of a length-delimited field. */
  header(field: number, length: number): void {
    this.bytes[this.position++] = (field << 3) | 2;
    this.varint(length);
  }

  /** Writes a string field whose length in UTF-8 is known. */
  text(field: number, value: string, length: number): void {
    this.header(field, length);
    writeText(this.#memory, this.position, value, length);
    this.position += length;
  }

  /** Writes a bytes or message field. */
  block(field: number, value: Uint8Array): void {
    this.header(field, value.length);
    this.bytes.set(value, this.position);
    this.position += value.length;
  }

  /** Writes a varint field. */
  number(field: number, value: number): void {
    this.bytes[this.position++] = field << 3;
    this.varint(value);
  }
}

/**
 * The greatest size in bytes of a message that is written into shared memory. A longer message gets
 * its own memory.
 */
const MOST = 1 << 20;

let shared = new ProtobufWriter(4_096);

/**
 * Returns a writer over memory that the next message reuses. The caller has to hash or copy the
 * bytes before that.
 */
export function scratchWriter(length: number): ProtobufWriter {
  if (length > MOST) return new ProtobufWriter(length);
  if (length > shared.bytes.length) shared = new ProtobufWriter(2 * length);
  shared.position = 0;
  return shared;
}
