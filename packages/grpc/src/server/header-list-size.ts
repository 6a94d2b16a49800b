/** Bytes that each header counts next to its name and value (RFC 9113 section 6.5.2). */
export const headerOverhead = 32;

/** The size of a header list as HTTP/2 counts it, uncompressed: names and values in turn, of one byte per character. */
export function headerListSize(rawHeaders: readonly string[]): number {
  let size = (rawHeaders.length / 2) * headerOverhead;
  for (const text of rawHeaders) size += text.length;
  return size;
}
