import { canonicalName, nameKey } from "./name-key.ts";
import type { Locator, XdstpName } from "./locator.ts";

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

/**
 * Whether something is a glob: its decoded id is `*` or ends in `/*` (N-50).
 *
 * A string is taken as a name as received; an opaque name never is a glob (N-56).
 * A locator with the scheme `xdstp` or `file` may be a glob, one with `http` may not (N-20, N-57).
 */
export function isGlob(name: string | XdstpName | Locator): boolean {
  if (typeof name !== "string")
    return name.scheme !== "http" && (name.id === "*" || name.id.endsWith("/*"));
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  return key !== undefined && segment !== undefined && isStar(key, segment);
}

/** Where a segment of the id lies in a canonical name. */
interface Segment {
  readonly start: number;
  readonly end: number;
}

/** Where the last segment of the id lies in a canonical name; undefined when the id is empty. There the raw `/`, `*` and `?` are those of the parts. */
function lastSegment(key: string): Segment | undefined {
  const question = key.indexOf("?");
  const end = question === -1 ? key.length : question;
  const typeEnd = key.indexOf("/", key.indexOf("/", 8) + 1);
  if (typeEnd === -1 || typeEnd > end) return undefined;
  return { start: key.lastIndexOf("/", end - 1) + 1, end };
}

/** Whether it is the one that makes a glob. */
function isStar(key: string, { start, end }: Segment): boolean {
  return end - start === 1 && key.charAt(start) === "*";
}
