import { cutText, fitText, textWidth, wrapText } from "./fit-text.ts";
import type { CliIo } from "./cli-io.ts";

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

/** Colours where stdout is a terminal. */
export function paintFor(io: Pick<CliIo, "terminal" | "env">): Paint {
  return io.terminal() === undefined ? (_, text) => text : createPaint(io.env);
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

/** A line in pieces. */
export type Line = readonly Piece[];

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

/** One row of a table. */
interface ShownRow {
  /** The first is cut where the terminal has no room; the last is a number. */
  readonly cells: readonly string[];
  /** Notes on it, in lines of their own. */
  readonly below: readonly string[];
}

/** Writes a table. Columns are as wide as what they hold; what stands below a row may take three lines. */
export function showRows(head: readonly string[], rows: readonly ShownRow[], io: CliIo): void {
  const columns = io.terminal()?.columns ?? 100_000;
  const paint = paintFor(io);
  const all = [{ cells: head, below: [] }, ...rows];
  const widths = head.map((_, column) =>
    all.reduce((widest, { cells }) => Math.max(widest, textWidth(cells[column] ?? "")), 0),
  );
  const others = widths.slice(1).reduce((sum, width) => sum + width + 2, 0);
  widths[0] = Math.max(8, Math.min(columns - others, widths[0] ?? 0));
  const write = (tone: "bold" | "plain", text: string): void => {
    io.stdout.write(`${paintLine([[tone, text]], columns, paint)}\n`);
  };
  for (const [index, { cells, below }] of all.entries()) {
    write(
      index === 0 ? "bold" : "plain",
      widths
        .map((width, column) => cell(cells[column] ?? "", width, column === widths.length - 1))
        .join("  ")
        .trimEnd(),
    );
    for (const line of below.flatMap((text) => wrapText(text, columns - 4, 3)))
      write("plain", `    ${line}`);
  }
}

function cell(text: string, width: number, isLast: boolean): string {
  return isLast ? text.padStart(width) : fitText(text, width);
}
