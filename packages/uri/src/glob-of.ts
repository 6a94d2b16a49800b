import { canonicalName } from "./canonical-name.ts";
import { lastSegment } from "./last-segment.ts";

/**
 * The canonical string of the one glob that covers a name (N-51, N-52), so that membership is one look-up (N-54).
 *
 * undefined for what no glob covers: a glob, a name with an empty id (N-53), an opaque name (N-56), a text that does not parse.
 */
export function globOf(name: string): string | undefined {
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  if (key === undefined || segment === undefined) return undefined;
  const { start, end } = segment;
  return key.slice(start, end) === "*" ? undefined : `${key.slice(0, start)}*${key.slice(end)}`;
}
