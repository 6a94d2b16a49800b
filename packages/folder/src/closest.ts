import type { Registry } from "@bufbuild/protobuf";

/** The candidate that a mistyped word most likely means: at most a third of its letters differ. undefined: none is close. */
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

/** Levenshtein: letters to insert, delete or replace. */
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

/** Up to this number of values of an enum are named. */
const most = 5;

/** Lists the values of an enum, the one that was probably meant first. undefined: the enum is not known. */
export function enumHint(name: string, word: string, registry: Registry): string | undefined {
  const values = registry.getEnum(name)?.values.map((value) => value.name);
  if (values === undefined) return undefined;
  const meant = closest(word.toUpperCase(), values);
  const sorted = values.toSorted((a, b) => Number(b === meant) - Number(a === meant));
  return `one of ${[...sorted.slice(0, most), ...(sorted.length > most ? ["..."] : [])].join(", ")}`;
}
