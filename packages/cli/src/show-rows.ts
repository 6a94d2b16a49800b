import type { CliIo } from "./cli-io.ts";
import { fitText, textWidth, wrapText } from "./fit-text.ts";
import { createPaint, paintLine } from "./style.ts";

/** One row of a table. */
export interface ShownRow {
  /** The first is cut where the terminal has no room; the last is a number. */
  readonly cells: readonly string[];
  /** Notes on it, in lines of their own. */
  readonly below: readonly string[];
}

/** Writes a table. Columns are as wide as what they hold; what stands below a row may take three lines. */
export function showRows(head: readonly string[], rows: readonly ShownRow[], io: CliIo): void {
  const columns = io.terminal()?.columns ?? 100_000;
  const paint =
    io.terminal() === undefined ? (_tone: unknown, text: string) => text : createPaint(io.env);
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
