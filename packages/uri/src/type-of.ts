import { canonicalName } from "./canonical-name.ts";
import { inType, skip } from "./character-set.ts";

/** The resource type in an xdstp name as received (N-08); undefined for an opaque name and for a text that does not parse. */
export function typeOf(name: string): string | undefined {
  const key = canonicalName(name);
  if (key === undefined) return undefined;
  const start = key.indexOf("/", 8) + 1;
  return key.slice(start, skip(key, start, inType));
}
