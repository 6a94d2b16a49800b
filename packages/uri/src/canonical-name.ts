import { inAuthority, inId, inParam, inType, skip } from "./character-set.ts";
import { parseName } from "./parse-name.ts";
import { printName } from "./print-name.ts";

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
