import { encode, inAuthority, inDirective, inId, inParam } from "./percent-encoding.ts";
import type { Directive, Locator, ResourceParts, XdstpName } from "./locator.ts";

/**
 * Returns the canonical string of a name (xdstp-names.md section 4): one string for all names that
 * are equal (N-41).
 *
 * Never throws. A name from `parseName` or `nameFromMessage` parses back to the same parts (N-39).
 * Parts of another origin are not checked: the type is printed as it is (N-32), and an unpaired
 * surrogate becomes U+FFFD.
 */
export function printName(name: XdstpName): string {
  return printResourceParts("xdstp", name);
}

/** Prints a name or locator of one of the two schemes that have a type. */
function printResourceParts(
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

/**
 * Compares two texts by code points, which is the order of their UTF-8 bytes. UTF-16 order differs:
 * surrogates come before U+E000.
 */
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

/**
 * Returns the canonical string of a locator (xdstp-names.md section 4). An HTTP request never has
 * its fragment (N-38).
 *
 * Never throws; see {@link printName} for parts that do not come from a parser.
 */
export function printLocator(locator: Locator): string {
  const located =
    locator.scheme === "file"
      ? `file:///${encode(locator.id, inId)}`
      : printResourceParts(locator.scheme, locator);
  const { directives } = locator;
  return directives.length === 0
    ? located
    : `${located}#${directives.map(printDirective).join(",")}`;
}

/**
 * Prints a directive. An inner locator is escaped again, so a nested directive is escaped twice
 * (N-37).
 */
function printDirective(directive: Directive): string {
  const value = directive.kind === "alt" ? printLocator(directive.locator) : directive.entry;
  return `${directive.kind}=${encode(value, inDirective)}`;
}
