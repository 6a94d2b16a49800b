import { canonicalName } from "./canonical-name.ts";

/** The decoded authority of an xdstp name as received, which may be empty (N-07); undefined for an opaque name and for a text that does not parse. */
export function authorityOf(name: string): string | undefined {
  const key = canonicalName(name);
  const authority = key?.slice(8, key.indexOf("/", 8));
  return authority?.includes("%") ? decodeURIComponent(authority) : authority;
}
