import type { Registry } from "@bufbuild/protobuf";

/** Returns the candidate that is closest to a mistyped word, or `undefined` if none is close. At most a third of its letters may differ. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.floor(word.length / 3) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const distance = distanceOf(word, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** The Levenshtein distance: the number of letters to insert, delete or replace. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The number of enum values that are listed. */
const most = 5;

/** Returns a text with the values of an enum, starting with the one that was probably meant. Returns `undefined` for an unknown enum. */
export function enumHint(name: string, word: string, registry: Registry): string | undefined {
  const values = registry.getEnum(name)?.values.map((value) => value.name);
  if (values === undefined) return undefined;
  const meant = closest(word.toUpperCase(), values);
  const sorted = values.toSorted((a, b) => Number(b === meant) - Number(a === meant));
  return `one of ${[...sorted.slice(0, most), ...(sorted.length > most ? ["..."] : [])].join(", ")}`;
}
