import { fault, type UriFault, type UriPart } from "./uri-error.ts";

/**
 * Percent-encodes the UTF-8 bytes of all characters that are not in the set, with hex digits in
 * upper case (N-30). An unpaired surrogate becomes U+FFFD.
 */
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

/**
 * Returns the end of a run of characters to escape. Surrogate pairs stay together, since no set has
 * either half.
 */
function endOfRun(text: string, start: number, set: number): number {
  let end = start + 1;
  while (end < text.length && skip(text, end, set) === end) end++;
  return end;
}

/**
 * Escapes a run. The characters that encodeURIComponent keeps (`A-Z a-z 0-9 - _ . ! ~ * ' ( )`) are
 * in every set, so a run has none of them.
 */
function escapeAll(run: string): string {
  try {
    return encodeURIComponent(run);
  } catch {
    return encodeURIComponent(run.replace(/\p{Surrogate}/gu, "\uFFFD"));
  }
}

/** Percent-decodes `text` from `start` to `end`, once (N-05). */
export function decode(text: string, start: number, end: number, part: UriPart): string | UriFault {
  const raw = text.slice(start, end);
  if (!raw.includes("%")) return raw;
  try {
    return decodeURIComponent(raw);
  } catch {
    return badEscape(text, start, raw, part);
  }
}

function badEscape(text: string, start: number, raw: string, part: UriPart): UriFault {
  const broken = raw.search(/%(?![\da-f]{2})/i);
  if (broken !== -1) return fault("percent-encoding", part, text, start + broken);
  return fault("utf8", part, text, start + badSequence(raw));
}

/** Returns the index of the first escaped bytes that are not UTF-8. The text has some (N-06). */
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

/** Returns the length of a UTF-8 sequence by its first byte. */
function sequenceLength(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

/** The sets of characters that the canonical form does not escape, as bits of {@link kept}. */
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

/** The sets of each ASCII character, as bits: it is not escaped in these. */
const kept = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return sets.reduce(
    (bits, [bit, characters]) => (characters.test(character) ? bits | bit : bits),
    0,
  );
});

/**
 * Returns the index of the first character at or after `from` that is not in the set; the length of
 * the text if there is none.
 */
export function skip(text: string, from: number, set: number): number {
  let index = from;
  while (index < text.length && ((kept[text.charCodeAt(index)] ?? 0) & set) !== 0) index++;
  return index;
}
