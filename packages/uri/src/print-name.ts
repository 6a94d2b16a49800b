import { encode } from "./encode.ts";
import { inAuthority, inId } from "./character-set.ts";
import { printContextParams } from "./print-context-params.ts";
import type { ResourceParts, XdstpName } from "./xdstp-name.ts";

/**
 * The canonical string of a name (xdstp-names.md section 4): one string for all names that are equal (N-41).
 *
 * Never throws. What `parseName` or `nameFromMessage` gave parses back to the same parts (N-39). Parts from elsewhere are not checked:
 * the type is printed as it is (N-32), and an unpaired surrogate becomes U+FFFD.
 */
export function printName(name: XdstpName): string {
  return printResourceParts("xdstp", name);
}

/** The same for the two schemes that have a type. */
export function printResourceParts(
  scheme: "xdstp" | "http",
  { authority, resourceType, id, contextParams }: ResourceParts,
): string {
  const path = id === "" ? resourceType : `${resourceType}/${encode(id, inId)}`;
  return `${scheme}://${encode(authority, inAuthority)}/${path}${printContextParams(contextParams)}`;
}
