import { cutText, textWidth } from "./fit-text.ts";

/** How a piece of text looks. */
export type Tone = "plain" | "bold" | "dim" | "good" | "info" | "warning" | "error";

/** Puts text into a tone; without colours it is the text. */
export type Paint = (tone: Tone, text: string) => string;

const codes: Readonly<Record<Tone, string>> = {
  plain: "",
  info: "",
  bold: "1",
  dim: "2",
  good: "32",
  warning: "33",
  error: "31",
};

/** Colours for a terminal, unless the user has set NO_COLOR to anything. */
export function createPaint(env: Readonly<Record<string, string | undefined>>): Paint {
  if ((env.NO_COLOR ?? "") !== "") return (_, text) => text;
  return (tone, text) =>
    codes[tone] === "" || text === "" ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`;
}

/** Takes the screen: the other page, no cursor, no wrapping of lines. */
export const takeScreen = "\u001b[?1049h\u001b[?25l\u001b[?7l";

/** Gives the screen back as it was. */
export const leaveScreen = "\u001b[?7h\u001b[?25h\u001b[?1049l";

/** Draws lines over what is there, without a flicker: each clears its rest, the last one what is below. */
export function redraw(lines: readonly string[]): string {
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}

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
