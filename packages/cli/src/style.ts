import { cutText, fitText, textWidth, wrapText } from "./fit-text.ts";
import type { CliIo } from "./cli-io.ts";

/** The appearance of a piece of text. */
export type Tone = "plain" | "bold" | "dim" | "good" | "info" | "warning" | "error";

/** Adds the colour of a tone to a text. Without colours, it returns the text unchanged. */
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

/** Returns the colours of a terminal. Any non-empty value of `NO_COLOR` turns them off. */
export function createPaint(env: Readonly<Record<string, string | undefined>>): Paint {
  if ((env.NO_COLOR ?? "") !== "") return (_, text) => text;
  return (tone, text) =>
    codes[tone] === "" || text === "" ? text : `\u001b[${codes[tone]}m${text}\u001b[0m`;
}

/** Returns the colours if stdout is a terminal. */
export function paintFor(io: Pick<CliIo, "terminal" | "env">): Paint {
  return io.terminal() === undefined ? (_, text) => text : createPaint(io.env);
}

/** Switches the terminal to its alternate screen, hides the cursor and turns off line wrapping. */
export const takeScreen = "\u001b[?1049h\u001b[?25l\u001b[?7l";

/** Restores the screen that {@link takeScreen} replaced. */
export const leaveScreen = "\u001b[?7h\u001b[?25h\u001b[?1049l";

/** Returns text that draws lines over the current screen without flicker. Each line clears its rest, and the last one clears the lines below. */
export function redraw(lines: readonly string[]): string {
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}

/** A part of a line in one tone. Its text does not contain control characters. */
export type Piece = readonly [tone: Tone, text: string];

/** A line, as its parts. */
export type Line = readonly Piece[];

/** Returns a line cut to `columns` columns. Colours do not take columns. */
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
  /** The first cell is cut if the terminal is too narrow. The last cell is aligned to the right, since it is a number. */
  readonly cells: readonly string[];
  /** Notes that are written below the row. */
  readonly below: readonly string[];
}

/** Writes a table. Each column is as wide as its longest text. A note below a row takes at most three lines. */
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
