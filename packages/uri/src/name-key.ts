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
