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
