/**
 * Returns true if `bytes[start, end)`, which are ASCII, spell `text`. Compares from the end, where
 * type URLs differ.
 */
export function isText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false;
  for (let i = text.length - 1; i >= 0; i--) {
    if (bytes[start + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}
