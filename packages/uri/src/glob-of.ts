import { canonicalName } from "./canonical-name.ts";
import { isStar, lastSegment } from "./last-segment.ts";
import { nameKey } from "./name-key.ts";

/** The glob that was found last, and what its members begin and end with: of names that come together nearly all have the same one, whose string is then made and hashed once. */
let known = { start: "", end: "", glob: "" };

/**
 * The canonical string of the one glob that covers a name (N-51, N-52), so that membership is one look-up (N-54).
 *
 * undefined for what no glob covers: a glob, a name with an empty id (N-53), an opaque name (N-56), a text that does not parse.
 */
export function globOf(name: string): string | undefined {
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  if (key === undefined || segment === undefined || isStar(key, segment)) return undefined;
  const start = key.slice(0, segment.start);
  const end = key.slice(segment.end);
  if (start !== known.start || end !== known.end) known = { start, end, glob: `${start}*${end}` };
  return known.glob;
}

/** Whether a name is a member of a glob (N-51 to N-53). Both may have any spelling. False when `glob` is not a glob or `name` is not an xdstp name. */
export function globMatches(glob: string, name: string): boolean {
  return globOf(name) === nameKey(glob);
}
