import { isUtf8 } from "node:buffer";

/** The text in `bytes[start, end)`; undefined: it is not UTF-8, so two of them might be mistaken for one. */
export function readText(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString("utf8", start, end);
  return text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, end)) ? undefined : text;
}
