import type { RefusedVersion } from "@xdstp/relay";
import { escapeText } from "./escape-text.ts";
import { cutStart, fitText, textWidth } from "./fit-text.ts";
import { formatAge } from "./format-age.ts";
import type { Piece } from "./paint-line.ts";
import { counted, shortType, shortVersion } from "./short-text.ts";

type Line = readonly Piece[];

/** How much there is to show, and where. */
export interface RefusalRoom {
  readonly now: number;
  /** Lines. */
  readonly most: number;
  readonly columns: number;
}

const titles = ["REFUSED", "TYPE", "VERSION", "CLIENTS", "AGE"];
/** Of the columns, at most; the reason takes the rest. */
const shares = [0.28, 0.14, 0.12, 0.18, 0.05];

/** What clients have refused, as a table: a line for each version of a resource, newest first, the reason at its end. None: no line. */
export function renderRefusals(
  refusals: readonly RefusedVersion[],
  { now, most, columns }: RefusalRoom,
): readonly Line[] {
  if (refusals.length === 0) return [];
  const room = refusals.length + 1 > most ? Math.max(1, most - 2) : refusals.length;
  const shown = refusals.slice(0, room);
  const cells = [titles, ...shown.map((one) => cellsOf(one, now))];
  const widths = titles.map((title, at) =>
    Math.min(
      Math.max(title.length, Math.floor(columns * (shares[at] ?? 0))),
      Math.max(...cells.map((row) => textWidth(row[at] ?? ""))),
    ),
  );
  const row = ([name = "", ...rest]: readonly string[]): string =>
    [cutStart(name, widths[0] ?? 0), ...rest]
      .map((text, at) => `${fitText(text, widths[at] ?? 0)}  `)
      .join("");
  const lines = shown.map((one, at): Line => [
    ["plain", row(cells[at + 1] ?? [])],
    ["error", reasonOf(one)],
  ]);
  const left = refusals.length - room;
  return [
    [["bold", `${row(titles)}NACK`]],
    ...lines,
    ...(left > 0 ? [[["dim", `and ${counted(left, "refusal")} more`]] as const] : []),
  ];
}

/** The first of those who refuse something, and how many more. */
export function refusedBy({ clients, by }: RefusedVersion): string {
  const named = by.slice(0, 2).map(escapeText);
  return named.length === 0
    ? counted(clients, "client")
    : `${named.join(", ")}${clients > named.length ? ` and ${clients - named.length} more` : ""}`;
}

/** What they say, and whether it may be of something else: a client answers a response as a whole. */
export function reasonOf({ among, reason }: RefusedVersion): string {
  return `${among > 1 ? `one of ${among}: ` : ""}${escapeText(reason === "" ? "without a text" : reason)}`;
}

function cellsOf(one: RefusedVersion, now: number): readonly string[] {
  return [
    escapeText(one.name),
    shortType(one.typeUrl),
    one.version === "" ? "removal" : shortVersion(one.version),
    refusedBy(one),
    formatAge(now - one.since),
  ];
}
