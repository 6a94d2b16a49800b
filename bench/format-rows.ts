import type { Row } from "./row.ts";

const heads = ["case", "measure", "unit", "floor", "connect", "xdstp", "x floor", "target", ""];
const numeric = new Set([3, 4, 5, 6]);

/** The rows as a table for a terminal, and below it the notes. */
export function formatRows(rows: readonly Row[]): string {
  const cells = rows.map((row, index) => cellsOf(row, rows[index - 1]));
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0, numeric.has(column)))
      .join("  ")
      .trimEnd();
  const notes = rows.flatMap(({ case: name, note }) =>
    note === undefined ? [] : [`${name}: ${note}`],
  );
  return [
    line(heads),
    line(widths.map((width) => "-".repeat(width))),
    ...cells.map(line),
    ...(notes.length === 0 ? [] : ["", ...notes]),
  ].join("\n");
}

function cellsOf(row: Row, before: Row | undefined): readonly string[] {
  const { floor, connect, xdstp, ratio, target, met } = row;
  return [
    row.case === before?.case ? "" : row.case,
    row.measure,
    row.unit,
    number(floor),
    connect === undefined || floor === undefined
      ? ""
      : `${number(connect)} (${number(connect / floor)} x)`,
    number(xdstp),
    number(ratio),
    target === undefined
      ? ""
      : `at most ${target.atMost}${target.of === "ratio" ? " x" : ` ${row.unit}`}`,
    met === undefined ? "" : met ? "met" : "MISSED",
  ];
}

function number(value: number | undefined): string {
  if (value === undefined) return "";
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

function pad(cell: string, width: number, right: boolean): string {
  return right ? cell.padStart(width) : cell.padEnd(width);
}
