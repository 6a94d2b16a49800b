import type { RejectedVersion } from "@xdstp/relay";
import type { Health } from "@xdstp/server";
import type { CliIo } from "./cli-io.ts";
import type { StatusClientRow } from "./client-types.ts";
import { clientTypeRows } from "./client-type-row.ts";
import { counted, escapeText, shortVersion } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { jsonText } from "./json-text.ts";
import { createPaint, leaveScreen, type Line, paintLine, redraw, takeScreen } from "./style.ts";
import { renderHealth, renderHidden, type ToldFacts } from "./server-facts.ts";
import { reasonOf, rejectedBy, renderRejections } from "./rejected-versions.ts";
import { renderTable } from "./render-table.ts";
import type { StatusRow } from "./status-row.ts";

/** The clients of a server, and facts about the server. */
export interface StatusPicture extends ToldFacts {
  readonly clients: readonly StatusClientRow[];
  /** The versions that clients have rejected, newest first. Absent: the server does not count rejections. */
  readonly rejections?: readonly RejectedVersion[] | undefined;
}

/** Shows one status after the other. */
export interface StatusShow {
  /** Shows a status. `now`: its time, in milliseconds since the epoch. */
  show(picture: StatusPicture, now: number): void;
  /** Shows that the server has not answered. It will be requested again. */
  trouble(message: string, now: number): void;
  close(): void;
}

/** The width of the table without a terminal, so that lines are not cut. */
const anyWidth = 100_000;

/** The number of rejections in a table that is shown once. `--json` has all of them. */
const mostRejections = 30;

/** Shows the table once. */
export function tableShow(io: CliIo): StatusShow {
  const { stdout, env } = io;
  return {
    show(picture, now) {
      const { rejections = [] } = picture;
      const columns = io.terminal()?.columns;
      const paint =
        columns === undefined ? (_tone: unknown, text: string) => text : createPaint(env);
      const rejected = renderRejections(rejections, {
        now,
        most: mostRejections,
        columns: columns ?? anyWidth,
      });
      for (const line of [
        ...tableLines(picture, now, columns ?? anyWidth),
        ...(rejected.length > 0 ? [[], ...rejected] : []),
      ])
        stdout.write(`${paintLine(line, columns ?? anyWidth, paint).trimEnd()}\n`);
    },
    trouble: () => undefined,
    close: () => undefined,
  };
}

/** Shows the table on a terminal, where each status replaces the one before. */
export function screenShow(io: CliIo, server: string): StatusShow {
  const { stdout, env } = io;
  const paint = createPaint(env);
  let last: StatusPicture = { clients: [], health: [] };
  const draw = (picture: StatusPicture, now: number, problem?: string): void => {
    last = picture;
    const { clients, rejections = [] } = picture;
    const { columns, rows } = io.terminal() ?? { columns: 80, rows: 24 };
    const head: readonly Line[] = [
      [
        ["bold", `xdstp status ${server}`],
        ["plain", `  ${counted(clients.length, "client")}`],
      ],
      ...(problem === undefined ? [] : [[["error", problem]] as const]),
      [],
    ];
    const rejected = renderRejections(rejections, {
      now,
      most: Math.max(2, Math.floor(rows / 4)),
      columns,
    });
    stdout.write(
      redraw(
        cut(
          [
            ...head,
            ...rejected,
            ...(rejected.length > 0 ? [[]] : []),
            ...tableLines(picture, now, columns),
          ],
          rows,
        ).map((line) => paintLine(line, columns, paint)),
      ),
    );
  };
  stdout.write(takeScreen);
  return {
    show: (picture, now) => {
      draw(picture, now);
    },
    trouble: (message, now) => {
      draw(last, now, escapeText(message));
    },
    close: () => {
      stdout.write(leaveScreen);
    },
  };
}

function cut(lines: readonly Line[], rows: number): readonly Line[] {
  return lines.length <= rows
    ? lines
    : [
        ...lines.slice(0, rows - 1),
        [["dim", `and ${counted(lines.length - rows + 1, "line")} more`]],
      ];
}

function tableLines(
  { clients, health, hiddenStreams = 0 }: StatusPicture,
  now: number,
  columns: number,
): readonly Line[] {
  const troubles = renderHealth(health, now);
  const head = troubles.length > 0 ? [...troubles, []] : [];
  if (clients.length === 0 && hiddenStreams === 0)
    return [...head, [["dim", "no client is connected"]]];
  return [...head, ...clientLines(clients, now, columns), ...renderHidden({ hiddenStreams })];
}

function clientLines(
  clients: readonly StatusClientRow[],
  now: number,
  columns: number,
): readonly Line[] {
  if (clients.length === 0) return [];
  const { head, rows } = renderTable(clientTypeRows(clients, now), columns);
  return [head, ...rows.flat()];
}

/** Shows a line for each row that was added, changed or removed, for logs. */
export function lineShow({ stdout }: CliIo): StatusShow {
  let last = new Map<string, string>();
  const say = (now: number, text: string): void => {
    stdout.write(`${new Date(now).toISOString()} ${text}\n`);
  };
  return {
    show({ clients, rejections = [], health, hiddenStreams = 0 }, now) {
      const rows = new Map([
        ...health.flatMap(healthRow),
        ...clientTypeRows(clients, now).map(
          (row) => [`${row.client} ${row.type}`, described(row)] as const,
        ),
        ...rejections.map(rejectionRow),
        ...(hiddenStreams > 0
          ? [["streams that you may not see:", String(hiddenStreams)] as const]
          : []),
      ]);
      for (const [key, text] of rows) if (last.get(key) !== text) say(now, `${key} ${text}`);
      for (const key of last.keys()) if (!rows.has(key)) say(now, `${key} GONE`);
      last = rows;
    },
    trouble: (message, now) => {
      say(now, escapeText(message));
    },
    close: () => undefined,
  };
}

/** Returns a row as text without its age, which always changes. */
function described({ state, version, reason }: StatusRow): string {
  return [state, version, reason].filter((part) => part !== "").join(" ");
}

/** Returns the rows of what is stale, with the time since when. */
function healthRow({ name, kind, stale }: Health): readonly (readonly [string, string])[] {
  return stale === undefined
    ? []
    : [
        [
          `${kind} ${escapeText(name)}`,
          `STALE since ${new Date(stale.since).toISOString()}: ${escapeText(stale.reason)}`,
        ],
      ];
}

/** Returns the key of a rejection, and the text that may change. */
function rejectionRow(one: RejectedVersion): readonly [string, string] {
  return [
    `${escapeText(one.name)} ${shortType(one.typeUrl)} ${shortVersion(one.version)}`,
    `REJECTED by ${rejectedBy(one)}: ${reasonOf(one)}`,
  ];
}

/** The fields that are times, in milliseconds since the epoch. */
const moments: ReadonlySet<string> = new Set(["updatedAt", "at", "since", "loadedAt", "expiresAt"]);

function timesAsText(key: string, value: unknown): unknown {
  return typeof value === "number" && moments.has(key) ? new Date(value).toISOString() : value;
}

/** Shows one JSON object per line: the first status, and each one that differs from the one before. */
export function jsonShow({ stdout }: CliIo, server: string): StatusShow {
  let last: string | undefined;
  const say = (now: number, content: object): void => {
    stdout.write(
      `${jsonText({ time: new Date(now).toISOString(), server, ...content }, { replacer: timesAsText })}\n`,
    );
  };
  return {
    show(picture, now) {
      const text = JSON.stringify(picture);
      if (text !== last) say(now, picture);
      last = text;
    },
    trouble: (message, now) => {
      say(now, { error: message });
    },
    close: () => undefined,
  };
}
