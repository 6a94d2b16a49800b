import { fault } from "./fault.ts";
import type { UriError, UriPart } from "./uri-error.ts";

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
