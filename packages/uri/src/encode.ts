import { skip } from "./character-set.ts";

/** Escapes the UTF-8 bytes of all that is not in the set, in upper case (N-30). An unpaired surrogate becomes U+FFFD. */
export function encode(text: string, set: number): string {
  let printed = "";
  let from = 0;
  for (;;) {
    const start = skip(text, from, set);
    if (start === text.length) return from === 0 ? text : printed + text.slice(from);
    const end = endOfRun(text, start, set);
    printed += text.slice(from, start) + escapeAll(text.slice(start, end));
    from = end;
  }
}

/** Surrogate pairs stay together, since no set holds either half. */
function endOfRun(text: string, start: number, set: number): number {
  let end = start + 1;
  while (end < text.length && skip(text, end, set) === end) end++;
  return end;
}

/** What encodeURIComponent keeps (`A-Z a-z 0-9 - _ . ! ~ * ' ( )`) is in every set, so none of it is in a run. */
function escapeAll(run: string): string {
  try {
    return encodeURIComponent(run);
  } catch {
    return encodeURIComponent(run.replace(/\p{Surrogate}/gu, "\uFFFD"));
  }
}
