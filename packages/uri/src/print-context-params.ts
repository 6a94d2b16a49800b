import { inParam } from "./character-set.ts";
import { encode } from "./encode.ts";

/** The query with its `?`, sorted by the UTF-8 bytes of the decoded keys (N-34, N-35); empty without parameters. Sorting n keys takes n log n comparisons. */
export function printContextParams(params: ReadonlyMap<string, string>): string {
  if (params.size === 0) return "";
  const sorted =
    params.size === 1 ? params : [...params].sort(([a], [b]) => compareCodePoints(a, b));
  let printed = "";
  for (const [key, value] of sorted) {
    printed += `${printed === "" ? "?" : "&"}${encode(key, inParam)}=${encode(value, inParam)}`;
  }
  return printed;
}

/** The order of code points is the order of UTF-8 bytes. UTF-16 order differs: there the surrogates come before U+E000. */
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
