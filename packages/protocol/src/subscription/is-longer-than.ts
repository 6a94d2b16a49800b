/** Whether a text has more than `most` bytes of UTF-8. A UTF-16 unit makes one to three of them, so they are counted only where the units leave it open. */
export function isLongerThan(text: string, bytes: number): boolean {
  if (text.length > bytes) return true;
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes;
}
