import { canonicalName } from "./canonical-name.ts";

/** The resource type in an xdstp name as received (N-08); undefined for an opaque name and for a text that does not parse. */
export function typeOf(name: string): string | undefined {
  const key = canonicalName(name);
  return key?.slice(key.indexOf("/", 8) + 1).split(/[/?]/, 1)[0];
}
