import type { StreamStatus } from "@xdstp/protocol/server";
import type { TerminalSize } from "./cli-io.ts";
import type { RejectedVersion, UpstreamStatus } from "@xdstp/relay";
import { connectCommands, type Endpoint, formatEndpoint, type ServedTls } from "./endpoint.ts";
import { textWidth, wrapText, wrapWords } from "./fit-text.ts";
import { type Line, type Paint, paintLine, type Piece } from "./style.ts";
import { renderRejections } from "./rejected-versions.ts";
import { renderTable } from "./render-table.ts";
import type { ReportLine } from "./reporter.ts";
import { renderUpstreams } from "./render-upstreams.ts";
import { counted } from "./short-text.ts";
import { type StatusEntry, type StatusRow, statusEntries, statusRow } from "./status-row.ts";

/** An event with its time, in milliseconds since the epoch. */
export interface RecentLine extends ReportLine {
  readonly time: number;
}

/** The state that the screen shows. */
export interface ScreenView {
  /** The command and the origin of the resources, escaped. */
  readonly title: string;
  readonly address: Endpoint;
  /** Absent: the server does not have TLS. */
  readonly tls?: ServedTls | undefined;
  /** true: the first good state is loaded (S-STREAM-9). */
  readonly ready: boolean;
  readonly resources: number;
  readonly revision: number;
  readonly now: number;
  readonly status: readonly StreamStatus[];
  /** Returns when the last event of a type on a stream happened. */
  readonly since: (stream: number, typeUrl: string) => number | undefined;
  /** The servers upstream. Absent: the command has none. */
  readonly upstreams?: readonly UpstreamStatus[] | undefined;
  /** The versions that clients have rejected, newest first. Absent: rejections are not counted. */
  readonly rejections?: readonly RejectedVersion[] | undefined;
  /** The current problems of the served resources. */
  readonly troubles: readonly ReportLine[];
  /** The newest events, oldest first. */
  readonly recent: readonly RecentLine[];
}

/** Returns the lines of the screen, which fit the terminal: problems, tables of upstreams and rejections, the table of streams, and the last events. The events get the space that the tables leave, at least a quarter of it. */
export function renderScreen(
  view: ScreenView,
  { columns, rows }: TerminalSize,
  paint: Paint,
): readonly string[] {
  const top = [
    headline(view),
    ...troubleLines(view.troubles, Math.max(1, Math.floor(rows / 3)), columns),
    [],
    ...upstreamLines(view, Math.max(3, Math.floor(rows / 3)), columns),
    ...rejectionLines(view, Math.max(2, Math.floor(rows / 5)), columns),
  ];
  const room = rows - top.length - 1;
  const table = tableLines(view, room - Math.max(1, Math.floor(room / 4)), columns);
  const events = recentLines(view.recent, Math.max(1, room - table.length));
  return [...top, ...table, [], ...events]
    .slice(0, rows)
    .map((line) => paintLine(line, columns, paint));
}

/** Returns the table of upstreams in up to `most` lines, and an empty line. */
function upstreamLines(
  { upstreams, now }: ScreenView,
  most: number,
  columns: number,
): readonly Line[] {
  return upstreams === undefined ? [] : [...renderUpstreams(upstreams, { now, most, columns }), []];
}

/** Returns the table of rejections in up to `most` lines and an empty line, or no line without rejections. */
function rejectionLines(
  { rejections = [], now }: ScreenView,
  most: number,
  columns: number,
): readonly Line[] {
  return rejections.length === 0
    ? []
    : [...renderRejections(rejections, { now, most, columns }), []];
}

function headline({ title, address, ready, resources, revision, status }: ScreenView): Line {
  const clients = `, ${counted(status.length, "stream")}`;
  const state: Piece = ready
    ? ["good", `${counted(resources, "resource")}, revision ${revision}`]
    : ["error", "NOT READY"];
  return [
    ["bold", `xdstp ${title} on ${formatEndpoint(address)}`],
    ["plain", "  "],
    state,
    ["plain", clients],
  ];
}

/** Returns problems in up to `most` lines. The end of a problem says what to do, so it is shown whole if there is space. The last problem is the summary, and is always shown. */
function troubleLines(
  troubles: readonly ReportLine[],
  most: number,
  columns: number,
): readonly Line[] {
  const first = troubles.slice(0, -1);
  const end = troubles
    .slice(-1)
    .flatMap((last) =>
      troubleText(last, first.length === 0 ? most : Math.max(1, Math.floor(most / 2)), columns),
    );
  const lines: Line[] = [];
  for (const trouble of first) {
    const room = most - end.length - lines.length;
    if (room > 0) lines.push(...troubleText(trouble, room, columns));
  }
  return [...lines, ...end];
}

function troubleText({ level, text }: ReportLine, most: number, columns: number): readonly Line[] {
  if (textWidth(text) <= columns) return [[[level, text]]];
  return wrapText(text, columns - 2, most).map((part, at): Line => [
    ["plain", at === 0 ? "" : "  "],
    [level, part],
  ]);
}

/** Returns the table of streams in at most `room` lines. It has only whole rows; the last line counts the rows that are left out. */
function tableLines(
  { status, now, since, address, tls }: ScreenView,
  room: number,
  columns: number,
): readonly Line[] {
  const entries = statusEntries(status);
  if (entries.length === 0) return noClients(address, tls, columns);
  const rowOf = (entry: StatusEntry): StatusRow =>
    statusRow(entry, now, entry.type && since(entry.stream.id, entry.type.typeUrl));
  const { head, rows } = renderTable(entries.slice(0, Math.max(0, room)).map(rowOf), columns);
  const lines: Line[] = [head];
  let shown = 0;
  for (const row of rows) {
    const isLast = shown + 1 === entries.length;
    if (lines.length + row.length + (isLast ? 0 : 1) > room) break;
    lines.push(...row);
    shown += 1;
  }
  const hidden = entries.length - shown;
  return hidden === 0 ? lines : [...lines, [["dim", `and ${counted(hidden, "row")} more`]]];
}

/** Breaks a command that is wider than the terminal. All lines but the last end with a backslash, so that the whole command can be copied. */
function commandLines(command: string, columns: number): readonly Line[] {
  if (textWidth(command) + 2 <= columns) return [[["plain", `  ${command}`]]];
  const lines = wrapWords(command, Math.max(20, columns - 6), "").split("\n");
  return lines.map((line, at): Line => [
    ["plain", `${at === 0 ? "  " : "    "}${line}${at < lines.length - 1 ? " \\" : ""}`],
  ]);
}

function noClients(
  address: Endpoint,
  tls: ServedTls | undefined,
  columns: number,
): readonly Line[] {
  const { envoy, grpc } = connectCommands(address, tls);
  return [
    [["dim", "no client is connected; to connect Envoy, or a gRPC program:"]],
    ...[envoy, grpc].flatMap((command) => commandLines(command, columns)),
  ];
}

function recentLines(recent: readonly RecentLine[], most: number): readonly Line[] {
  return recent.slice(-most).map(({ level, label, text, time }): Line => [
    ["dim", `${new Date(time).toTimeString().slice(0, 8)} `],
    [level, `${label.padEnd(11)} `],
    ["plain", text],
  ]);
}
