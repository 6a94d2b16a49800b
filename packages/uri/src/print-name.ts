import { encode } from "./encode.ts";
import { inAuthority, inId, inParam } from "./character-set.ts";
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

/** Returns the query with its `?`, sorted by the UTF-8 bytes of the decoded keys (N-34, N-35). Empty without parameters. Sorting n keys takes n log n comparisons. */
function printContextParams(params: ReadonlyMap<string, string>): string {
  if (params.size === 0) return "";
  const sorted =
    params.size === 1 ? params : [...params].sort(([a], [b]) => compareCodePoints(a, b));
  let printed = "";
  for (const [key, value] of sorted) {
    printed += `${printed === "" ? "?" : "&"}${encode(key, inParam)}=${encode(value, inParam)}`;
  }
  return printed;
}

/** Compares two texts by code points, which is the order of their UTF-8 bytes. UTF-16 order differs: there the surrogates come before U+E000. */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = rank(a.charCodeAt(index)) - rank(b.charCodeAt(index));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
