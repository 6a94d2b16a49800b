import { cutText, fitText, textWidth, wrapText } from "./fit-text.ts";
import type { Line, Piece, Tone } from "./style.ts";
import type { StatusRow } from "./status-row.ts";

const titles = {
  client: "CLIENT",
  view: "VIEW",
  type: "TYPE",
  state: "STATE",
  version: "VERSION",
  age: "AGE",
  reason: "NACK",
} as const;
type Column = keyof typeof titles;

/** The number of lines for a reason that does not fit into its row. */
const reasonLines = 3;

/** The table as lines of pieces: its head, and the lines of each row. */
export interface Table {
  readonly head: Line;
  readonly rows: readonly (readonly Line[])[];
}

type Widths = Readonly<Record<Exclude<Column, "reason">, number>>;

/** Columns that are narrowed when the table is wider than the terminal, in this order, each with its minimum width. */
const narrowed: readonly (readonly [column: keyof Widths, least: number])[] = [
  ["version", 19],
  ["client", 14],
  ["view", 6],
  ["type", 9],
  ["client", 8],
  ["version", 7],
];

/**
 * Returns a table of streams. A column is as wide as its longest text, up to a share of the terminal. If the table is wider than the terminal, some columns are narrowed.
 * The column of views exists only if a row has a view. A reason that does not fit into the rest of its row is written below it, in up to 3 lines.
 */
export function renderTable(rows: readonly StatusRow[], columns: number): Table {
  const width = (column: Column, most: number): number =>
    Math.min(most, Math.max(titles[column].length, ...rows.map((row) => textWidth(row[column]))));
  const widths = fitted(
    {
      client: width("client", Math.max(8, Math.floor(columns * 0.28))),
      view: rows.some(({ view }) => view !== "")
        ? width("view", Math.max(6, Math.floor(columns * 0.12)))
        : 0,
      type: width("type", Math.max(9, Math.floor(columns * 0.2))),
      state: width("state", 9),
      version: width("version", 27),
      age: width("age", 4),
    },
    columns,
  );
  const head = cells(titles, "bold", widths).map(([, text]): Piece => ["bold", text]);
  return {
    head: [...head, ["bold", titles.reason]],
    rows: rows.map((row) => rowLines(row, widths, columns)),
  };
}

/** Narrows columns until the head of the table fits the terminal. */
function fitted(widths: Widths, columns: number): Widths {
  let excess =
    Object.values(widths).reduce(
      (sum, width) => sum + (width === 0 ? 0 : width + 2),
      titles.reason.length,
    ) - columns;
  const fitting = { ...widths };
  for (const [column, least] of narrowed) {
    const cut = Math.max(0, Math.min(excess, fitting[column] - least));
    fitting[column] -= cut;
    excess -= cut;
  }
  return fitting;
}

function rowLines(row: StatusRow, widths: Widths, columns: number): readonly Line[] {
  const pieces = cells(row, row.tone, widths);
  const used = textWidth(pieces.map(([, text]) => text).join(""));
  if (used + textWidth(row.reason) <= columns) return [[...pieces, ["plain", row.reason]]];
  return [
    pieces,
    ...wrapText(row.reason, columns - 4, reasonLines).map((text): Line => [
      ["plain", "    "],
      [row.tone, text],
    ]),
  ];
}

function cells(row: Pick<StatusRow, Column>, tone: Tone, widths: Widths): readonly Piece[] {
  const cell = (column: keyof Widths): string =>
    widths[column] === 0
      ? ""
      : `${fitText(column === "version" ? cutVersions(row.version, widths.version) : row[column], widths[column])}  `;
  return [
    ["plain", `${cell("client")}${cell("view")}${cell("type")}`],
    [tone, cell("state")],
    ["plain", `${cell("version")}${cell("age")}`],
  ];
}

/** Shortens both versions of `a > b`, so that a part of each remains visible. */
function cutVersions(text: string, width: number): string {
  const [accepted = "", sent] = text.split(" > ", 2);
  if (textWidth(text) <= width || sent === undefined) return text;
  const room = width - " > ".length;
  const first = Math.min(
    textWidth(accepted),
    Math.max(Math.floor(room / 2), room - textWidth(sent)),
  );
  return `${cutText(accepted, first)} > ${cutText(sent, room - first)}`;
}
