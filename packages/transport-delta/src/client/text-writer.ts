import {
  allocateBytes,
  byteLength,
  concatBytes,
  varintLength,
  writeText,
  writeVarint,
} from "@xdstp/core/wire";

/** The field numbers of an entry of a map. */
const [KEY, VALUE] = [1, 2];
const LENGTH_DELIMITED = 2;

/**
 * Writes fields of protobuf one after the other, into a buffer that grows: a request with thousands
 * of names has one buffer, not one for each name.
 */
export class TextWriter {
  #bytes = allocateBytes(256);
  #end = 0;

  /** Writes a field with a text. */
  text(field: number, text: string): void {
    const length = byteLength(text);
    this.#head(field, length);
    writeText(this.#bytes, this.#end, text, length);
    this.#end += length;
  }

  /** Writes an entry of a map from text to text. */
  entry(field: number, key: string, value: string): void {
    this.#head(field, sizeOf(KEY, byteLength(key)) + sizeOf(VALUE, byteLength(value)));
    this.text(KEY, key);
    this.text(VALUE, value);
  }

  /** Writes a field with a message that is encoded. */
  message(field: number, bytes: Uint8Array): void {
    this.#head(field, bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** Returns what was written. The writer is not used after this. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Writes the tag and the length of a field, and makes room for its content. */
  #head(field: number, length: number): void {
    const room = sizeOf(field, length);
    if (this.#end + room > this.#bytes.length)
      this.#bytes = concatBytes([this.#bytes, allocateBytes(Math.max(room, this.#bytes.length))]);
    this.#end = writeVarint(this.#bytes, this.#end, field * 8 + LENGTH_DELIMITED);
    this.#end = writeVarint(this.#bytes, this.#end, length);
  }
}

/** Returns the number of bytes of a field with a content of this length. */
function sizeOf(field: number, length: number): number {
  return varintLength(field * 8 + LENGTH_DELIMITED) + varintLength(length) + length;
}
