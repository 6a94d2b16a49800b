import { fault, type UriError, type UriPart } from "./uri-error.ts";

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

/** Percent-decodes `text` from `start` to `end`, once (N-05). */
export function decode(text: string, start: number, end: number, part: UriPart): string | UriError {
  const raw = text.slice(start, end);
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return badEscape(text, start, raw, part);
  }
}

function badEscape(text: string, start: number, raw: string, part: UriPart): UriError {
  const broken = raw.search(/%(?![\da-f]{2})/i);
  if (broken !== -1) return fault("percent-encoding", part, text, start + broken);
  return fault("utf8", part, text, start + badSequence(raw));
}

/** Where the first escaped bytes lie that are not UTF-8; there are some (N-06). */
function badSequence(raw: string): number {
  let index = raw.indexOf("%");
  for (;;) {
    const end = index + 3 * sequenceLength(Number.parseInt(raw.slice(index + 1, index + 3), 16));
    try {
      decodeURIComponent(raw.slice(index, end));
    } catch {
      return index;
    }
    index = raw.indexOf("%", end);
  }
}

/** The length that the first byte of a UTF-8 sequence announces. */
function sequenceLength(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** Raw characters of the canonical form, as bits of {@link kept}. */
export const inAuthority = 1; // N-31
export const inType = 2; // N-08, N-32
export const inId = 4; // N-33
export const inParam = 8; // N-34
export const inDirective = 16; // N-36

const sets: readonly (readonly [bit: number, characters: RegExp])[] = [
  [inAuthority, /[\w.~!$&'()*+,;=:@[\]-]/],
  [inType, /[\w.~-]/],
  [inId, /[\w.~!$&'()*+,;=:@/-]/],
  [inParam, /[\w.~!$'()*,:@/?-]/],
  [inDirective, /[\w.~!$&'()*+;=:@/?-]/],
];

/** The sets in which each ASCII character stays as it is. */
const kept = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return sets.reduce(
    (bits, [bit, characters]) => (characters.test(character) ? bits | bit : bits),
    0,
  );
});

/** The index of the first character at or after `from` that is not in the set; the length if there is none. */
export function skip(text: string, from: number, set: number): number {
  let index = from;
  while (index < text.length && ((kept[text.charCodeAt(index)] ?? 0) & set) !== 0) index++;
  return index;
}
