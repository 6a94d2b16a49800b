import { canonicalName } from "./canonical-name.ts";

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
