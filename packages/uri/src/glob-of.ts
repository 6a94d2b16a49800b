import { canonicalName, nameKey } from "./name-key.ts";
import type { Locator, XdstpName } from "./locator.ts";

/**
 * The glob that was found last, and the beginning and end of its members. Names that come together
 * nearly all have the same glob, whose string is so created and hashed once.
 */
let known = { start: "", end: "", glob: "" };

/**
 * Returns the canonical string of the one glob that covers a name (N-51, N-52), so that membership
 * needs one look-up (N-54).
 *
 * undefined for a text that no glob covers: a glob, a name with an empty id (N-53), an opaque name
 * (N-56), a text that is not a valid name. The glob of a `file:///` name is that of its directory
 * (N-57).
 */
export function globOf(name: string): string | undefined {
  if (name.startsWith(FILE)) return fileGlobOf(name);
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  if (key === undefined || segment === undefined || isStar(key, segment)) return undefined;
  const start = key.slice(0, segment.start);
  const end = key.slice(segment.end);
  if (start !== known.start || end !== known.end) known = { start, end, glob: `${start}*${end}` };
  return known.glob;
}

/**
 * Returns true if a name is a member of a glob (N-51 to N-53). Both may have any spelling. False if
 * `glob` is not a glob or `name` is not a name of xdstp or of a file.
 */
export function globMatches(glob: string, name: string): boolean {
  return globOf(name) === nameKey(glob);
}

/**
 * Returns true for a glob: its decoded id is `*` or ends in `/*` (N-50).
 *
 * A string is read as a name as received; an opaque name is never a glob (N-56). A `file:///` name
 * is one if it ends in `/*` (N-57).
 * A locator with the scheme `xdstp` or `file` may be a glob, one with `http` may not (N-20, N-57).
 */
export function isGlob(name: string | XdstpName | Locator): boolean {
  if (typeof name !== "string")
    return name.scheme !== "http" && (name.id === "*" || name.id.endsWith("/*"));
  if (name.startsWith(FILE)) return name.endsWith("/*");
  const key = canonicalName(name);
  const segment = key === undefined ? undefined : lastSegment(key);
  return key !== undefined && segment !== undefined && isStar(key, segment);
}

/** The beginning of a name of a file. */
const FILE = "file:///";

/** Returns the glob of the directory of a file (N-57). undefined: it is a glob, or an entry of a file. */
function fileGlobOf(name: string): string | undefined {
  const slash = name.lastIndexOf("/");
  if (slash === name.length - 1 || name.includes("#") || name.endsWith("/*")) return undefined;
  return `${name.slice(0, slash)}/*`;
}

/** The range of a segment of the id in a canonical name. */
interface Segment {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the range of the last segment of the id in a canonical name; undefined: the id is empty.
 * In a canonical name the raw `/`, `*` and `?` are separators, never parts of decoded texts.
 */
function lastSegment(key: string): Segment | undefined {
  const question = key.indexOf("?");
  const end = question === -1 ? key.length : question;
  const typeEnd = key.indexOf("/", key.indexOf("/", 8) + 1);
  if (typeEnd === -1 || typeEnd > end) return undefined;
  return { start: key.lastIndexOf("/", end - 1) + 1, end };
}

/** Returns true if a segment is the `*` of a glob. */
function isStar(key: string, { start, end }: Segment): boolean {
  return end - start === 1 && key.charAt(start) === "*";
}
