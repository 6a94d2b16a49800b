const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text in `bytes[start, end)`. What is not UTF-8 becomes U+FFFD. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end));
}
