import { inAuthority, inId, inParam, inType, skip } from "./percent-encoding.ts";
import { parseName } from "./parse-name.ts";
import { printName } from "./print-name.ts";

/**
 * The key of any name as received: equal for two names exactly when the names are equal (N-40, N-41, N-43).
 *
 * An xdstp name has its canonical string; an opaque name, and an xdstp text that does not parse, is its own key.
 * It is for maps. On the wire a name is answered in the spelling in which it was asked (N-42).
 */
export function nameKey(text: string): string {
  return canonicalName(text) ?? text;
}

/** Whether two names as received are equal: by their parts for xdstp names, byte for byte for opaque ones (N-40, N-43, N-44). */
export function sameName(a: string, b: string): boolean {
  return a === b || nameKey(a) === nameKey(b);
}

/** The last name that was found to be plain: a caller that needs its key needs its type and its glob too. */
let known = "";

/** The canonical string of a text that is an xdstp name; undefined for opaque names and texts that do not parse. */
export function canonicalName(text: string): string | undefined {
  if (!text.startsWith("xdstp:")) return undefined;
  if (text === known || isPlain(text)) return (known = text);
  const parsed = parseName(text);
  return parsed.ok ? printName(parsed.value) : undefined;
}

/** Whether a text is canonical and has no escapes, as nearly all names: one pass, and nothing is allocated but the keys of parameters. */
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

/** Keys in strictly rising order, each with its `=`. */
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

/** The resource type in an xdstp name as received (N-08); undefined for an opaque name and for a text that does not parse. */
export function typeOf(name: string): string | undefined {
  const key = canonicalName(name);
  if (key === undefined) return undefined;
  const start = key.indexOf("/", 8) + 1;
  return key.slice(start, skip(key, start, inType));
}

/** The decoded authority of an xdstp name as received, which may be empty (N-07); undefined for an opaque name and for a text that does not parse. */
export function authorityOf(name: string): string | undefined {
  const key = canonicalName(name);
  const authority = key?.slice(8, key.indexOf("/", 8));
  return authority?.includes("%") ? decodeURIComponent(authority) : authority;
}
