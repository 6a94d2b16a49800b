import { cutText, textWidth } from "./fit-text.ts";
import type { Paint, Tone } from "./style.ts";

/** A piece of a line in one tone. The text holds no control characters. */
export type Piece = readonly [tone: Tone, text: string];

/** One line of at most `columns` columns. Colours take none. */
export function paintLine(pieces: readonly Piece[], columns: number, paint: Paint): string {
  let left = columns;
  let line = "";
  for (const [tone, text] of pieces) {
    const cut = cutText(text, left);
    line += paint(tone, cut);
    left -= textWidth(cut);
    if (cut !== text) break;
  }
  return line;
}
