/** Length of a varint that holds `value`, which is a safe integer and not negative. */
export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Length of a length-delimited field with a number below 16. */
export function fieldLength(payloadLength: number): number {
  return 1 + varintLength(payloadLength) + payloadLength;
}

/** Writes protobuf into memory whose length was counted before. Field numbers are below 16. */
export class ProtobufWriter {
  readonly bytes: Uint8Array;
  /** Where the next byte goes. */
  position = 0;
  /** The same memory: texts are written by methods of `Buffer`, but its `slice` would be no copy. */
  readonly #buffer: Buffer;

  /** @param length - Bytes that it has room for */
  constructor(length: number) {
    this.#buffer = Buffer.allocUnsafeSlow(length);
    this.bytes = new Uint8Array(this.#buffer.buffer);
  }

  /** What has been written, until more is. */
  get written(): Uint8Array {
    return this.bytes.subarray(0, this.position);
  }

  /** What has been written, in a buffer of its own. */
  copy(): Uint8Array {
    return this.bytes.slice(0, this.position);
  }

  varint(value: number): void {
    let rest = value;
    for (; rest > 127; rest = Math.floor(rest / 128))
      this.bytes[this.position++] = (rest % 128) | 128;
    this.bytes[this.position++] = rest;
  }

  /** Tag and length of a length-delimited field. */
  header(field: number, length: number): void {
    this.bytes[this.position++] = (field << 3) | 2;
    this.varint(length);
  }

  /** A string field whose length in UTF-8 is known. */
  text(field: number, value: string, length: number): void {
    this.header(field, length);
    this.position += this.#buffer.write(value, this.position, length, "utf8");
  }

  /** A bytes or message field. */
  block(field: number, value: Uint8Array): void {
    this.header(field, value.length);
    this.bytes.set(value, this.position);
    this.position += value.length;
  }

  /** A varint field. */
  number(field: number, value: number): void {
    this.bytes[this.position++] = field << 3;
    this.varint(value);
  }
}

/** Bytes up to which a message is written into shared memory. A longer message gets its own memory. */
const MOST = 1 << 20;

let shared = new ProtobufWriter(4_096);

/** Returns a writer over memory that the next message reuses. The caller hashes or copies the bytes before that. */
export function scratchWriter(length: number): ProtobufWriter {
  if (length > MOST) return new ProtobufWriter(length);
  if (length > shared.bytes.length) shared = new ProtobufWriter(2 * length);
  shared.position = 0;
  return shared;
}
