/**
 * Returns true if `JSON.parse` may lose a part of a text: the first of two equal keys of an object, or digits of a long integer.
 * The caller then reads the text with a parser that reports both with their place, which takes four times longer.
 * A false alarm is possible for a long number such as `1234567890123456.5`. A loss is never missed.
 * @param text - a valid JSON text.
 */
export function mayLoseContent(text: string): boolean {
  /** The keys of each open object, by depth. `undefined`: an array. */
  const open: (Set<string> | undefined)[] = [];
  let isKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (isKey && isRepeated(text.slice(at + 1, end), open.at(-1))) return true;
      isKey = false;
      at = end;
    } else if (code === openBrace) {
      open.push(new Set());
      isKey = true;
    } else if (code === openBracket) {
      open.push(undefined);
      isKey = false;
    } else if (code === closeBrace || code === closeBracket) {
      open.pop();
      isKey = false;
    } else if (code === comma) isKey = open.at(-1) !== undefined;
    else if (isDigit(code)) {
      const end = endOfDigits(text, at);
      if (end - at > exactDigits) return true;
      at = end - 1;
    }
  }
  return false;
}

/** The number of digits up to which a number holds each integer. */
const exactDigits = 15;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Returns true if an object already has a key, and adds the key to it. Equal keys may be written with different escapes. */
function isRepeated(written: string, keys: Set<string> | undefined): boolean {
  if (keys === undefined) return false;
  const key = written.includes("\\") ? (JSON.parse(`"${written}"`) as string) : written;
  const before = keys.size;
  return keys.add(key).size === before;
}

/** Returns the offset of the quote that ends the string at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== quote)
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

/** Returns the offset after the digits that begin at `start`. */
function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
