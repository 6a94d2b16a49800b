/** Where a segment of the id lies in a canonical name. */
export interface Segment {
  readonly start: number;
  readonly end: number;
}

/** Where the last segment of the id lies in a canonical name; undefined when the id is empty. There the raw `/`, `*` and `?` are those of the parts. */
export function lastSegment(key: string): Segment | undefined {
  const question = key.indexOf("?");
  const end = question === -1 ? key.length : question;
  const typeEnd = key.indexOf("/", key.indexOf("/", 8) + 1);
  if (typeEnd === -1 || typeEnd > end) return undefined;
  return { start: key.lastIndexOf("/", end - 1) + 1, end };
}

/** Whether it is the one that makes a glob. */
export function isStar(key: string, { start, end }: Segment): boolean {
  return end - start === 1 && key.charAt(start) === "*";
}
