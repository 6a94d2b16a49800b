import { inAuthority, inId, inParam, inType, skip } from "./percent-encoding.ts";
import { readName } from "./parse-name.ts";
import { printName } from "./print-name.ts";

/**
 * Returns the key of a name as received. Two names have the same key exactly if they are equal
 * (N-40, N-41, N-43).
 *
 * The key of an xdstp name is its canonical string. An opaque name, or a text with `xdstp:` that is
 * not a valid name, is its own key.
 * Keys are for maps. On the wire, answer a name in the spelling in which it was requested (N-42).
 */
export function nameKey(text: string): string {
  return canonicalName(text) ?? text;
}

/**
 * Returns true if two names as received are equal: by their parts for xdstp names, byte for byte
 * for opaque ones (N-40, N-43, N-44).
 */
export function sameName(a: string, b: string): boolean {
  return a === b || nameKey(a) === nameKey(b);
}

/**
 * The last text that was found to be plain: a caller that needs the key of a name also needs its
 * type and its glob.
 */
let known = "";

/**
 * Returns the canonical string of an xdstp name; undefined for an opaque name or a text that is not
 * a valid name.
 */
export function canonicalName(text: string): string | undefined {
  if (!text.startsWith("xdstp:")) return undefined;
  if (text === known || isPlain(text)) return (known = text);
  const name = readName(text);
  return "code" in name ? undefined : printName(name);
}

/**
 * Returns true if a text is a canonical name without escapes, as nearly all names are. It reads the
 * text once, and allocates only the keys of parameters.
 */
function isPlain(text: string): boolean {
  const slash = skip(text, 8, inAuthority);
  const typeEnd = skip(text, slash + 1, inType);
  if (!text.startsWith("//", 6) || text.charAt(slash) !== "/" || typeEnd <= slash + 1) return false;
  const hasId = text.charAt(typeEnd) === "/";
  const pathEnd = hasId ? skip(text, typeEnd + 1, inId) : typeEnd;
  if (hasId && pathEnd === typeEnd + 1) return false;
  return (
    pathEnd === text.length || (text.charAt(pathEnd) === "?" && hasPlainParams(text, pathEnd + 1))
  );
}

/** Returns true if the keys are in strictly increasing order, each followed by `=`. */
function hasPlainParams(text: string, start: number): boolean {
  let previous: string | undefined;
  for (let from = start, end; ; from = end + 1) {
    const equals = skip(text, from, inParam);
    const key = text.slice(from, equals);
    if (text.charAt(equals) !== "=" || (previous !== undefined && previous >= key)) return false;
    end = skip(text, equals + 1, inParam);
    if (end === text.length) return true;
    if (text.charAt(end) !== "&") return false;
    previous = key;
  }
}

/**
 * Returns the resource type in an xdstp name as received (N-08); undefined for an opaque name or a
 * text that is not a valid name.
 */
export function typeOf(name: string): string | undefined {
  const key = canonicalName(name);
  if (key === undefined) return undefined;
  const start = key.indexOf("/", 8) + 1;
  return key.slice(start, skip(key, start, inType));
}

/**
 * Returns the decoded authority of an xdstp name as received, which may be empty (N-07); undefined
 * for an opaque name or a text that is not a valid name.
 */
export function authorityOf(name: string): string | undefined {
  const key = canonicalName(name);
  const authority = key?.slice(8, key.indexOf("/", 8));
  return authority?.includes("%") ? decodeURIComponent(authority) : authority;
}
