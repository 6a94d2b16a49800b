/**
 * Text, bytes and turns of the event loop, as each platform does them best: this file is for Node,
 * and programs that have its condition; `web.ts` is for all others. Both export the same functions.
 *
 * @packageDocumentation
 */
import { isUtf8 as isUtf8Bytes } from "node:buffer";

/** Returns the same bytes as a `Buffer`, without a copy. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Returns the number of bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Returns a text in UTF-8. A surrogate without its pair becomes U+FFFD. */
export function encodeText(text: string): Uint8Array {
  return Buffer.from(text);
}

/** Writes a text of `length` bytes in UTF-8 to `target` at `at`. */
export function writeText(target: Uint8Array, at: number, text: string, length: number): void {
  asBuffer(target).write(text, at, length, "utf8");
}

/** Returns the text in `bytes[start, end)`. Bytes that are not UTF-8 become U+FFFD. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return asBuffer(bytes).toString("utf8", start, end);
}

/** Returns true if `bytes[start, end)` are UTF-8. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  return isUtf8Bytes(bytes.subarray(start, end));
}

/** Returns a text with one character, from U+0000 to U+00FF, for each byte. */
export function decodeLatin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("latin1");
}

/** Returns a copy of a text that keeps no longer text in memory, as a result of `slice` may. */
export function copyText(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}

/** Returns true if both have the same bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Returns a copy in memory that others may share; {@link decodeText} reads it the fastest. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.from(bytes);
}

/**
 * Returns memory of its own, shared with nothing. Its content is undefined, and the caller writes
 * all of it.
 */
export function allocateBytes(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length);
}

/**
 * Calls back once after `ms` milliseconds. The timer does not keep the process alive.
 * @returns a function that cancels the call
 */
export function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms).unref();
  return () => {
    clearTimeout(timer);
  };
}

/** Calls back in a later turn of the event loop, after the events that wait. */
export function nextTurn(callback: () => void): void {
  setImmediate(callback);
}
