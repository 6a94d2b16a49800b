import type { CliIo } from "./cli-io.ts";
import type { StatusClientRow } from "./client-types.ts";
import { clientTypeRows } from "./client-type-row.ts";
import { escapeJson, escapeText } from "./escape-text.ts";
import { type Piece, paintLine } from "./paint-line.ts";
import { renderTable } from "./render-table.ts";
import { counted } from "./short-text.ts";
import type { StatusRow } from "./status-row.ts";
import { createPaint } from "./style.ts";
import { leaveScreen, redraw, takeScreen } from "./terminal-codes.ts";

/** Shows one picture after the other. */
export interface StatusShow {
  /** The state at a time, in milliseconds since the epoch. */
  show(clients: readonly StatusClientRow[], now: number): void;
  /** The server has not answered, and is asked again. */
  trouble(message: string, now: number): void;
  close(): void;
}

type Line = readonly Piece[];

/** Nobody cuts lines where there is no terminal. */
const anyWidth = 100_000;

/** The table, once. */
export function tableShow(io: CliIo): StatusShow {
  const { stdout, env } = io;
  return {
    show(clients, now) {
      const columns = io.terminal()?.columns;
      const paint = columns === undefined ? (_tone: unknown, text: string) => text : createPaint(env);
      for (const line of tableLines(clients, now, columns ?? anyWidth)) stdout.write(`${paintLine(line, columns ?? anyWidth, paint).trimEnd()}\n`);
    },
    trouble: () => undefined,
    close: () => undefined,
  };
}

/** The table on a terminal, drawn over itself. */
export function screenShow(io: CliIo, server: string): StatusShow {
  const { stdout, env } = io;
  const paint = createPaint(env);
  let last: readonly StatusClientRow[] = [];
  const draw = (clients: readonly StatusClientRow[], now: number, problem?: string): void => {
    last = clients;
    const { columns, rows } = io.terminal() ?? { columns: 80, rows: 24 };
    const head: readonly Line[] = [[["bold", `xdstp status ${server}`], ["plain", `  ${counted(clients.length, "client")}`]], ...(problem === undefined ? [] : [[["error", problem]] as const]), []];
    stdout.write(redraw(cut([...head, ...tableLines(clients, now, columns)], rows).map((line) => paintLine(line, columns, paint))));
  };
  stdout.write(takeScreen);
  return {
    show: (clients, now) => { draw(clients, now); },
    trouble: (message, now) => { draw(last, now, escapeText(message)); },
    close: () => { stdout.write(leaveScreen); },
  };
}

function cut(lines: readonly Line[], rows: number): readonly Line[] {
  return lines.length <= rows ? lines : [...lines.slice(0, rows - 1), [["dim", `and ${counted(lines.length - rows + 1, "line")} more`]]];
}

function tableLines(clients: readonly StatusClientRow[], now: number, columns: number): readonly Line[] {
  if (clients.length === 0) return [[["dim", "nobody is connected"]]];
  const { head, rows } = renderTable(clientTypeRows(clients, now), columns);
  return [head, ...rows.flat()];
}

/** A line for each row that is new, has changed or is gone, for logs. */
export function lineShow({ stdout }: CliIo): StatusShow {
  let last = new Map<string, string>();
  const say = (now: number, text: string): void => { stdout.write(`${new Date(now).toISOString()} ${text}\n`); };
  return {
    show(clients, now) {
      const rows = new Map(clientTypeRows(clients, now).map((row) => [`${row.client} ${row.type}`, described(row)]));
      for (const [key, text] of rows) if (last.get(key) !== text) say(now, `${key} ${text}`);
      for (const key of last.keys()) if (!rows.has(key)) say(now, `${key} GONE`);
      last = rows;
    },
    trouble: (message, now) => { say(now, escapeText(message)); },
    close: () => undefined,
  };
}

/** Without its age, which always changes. */
function described({ state, version, reason }: StatusRow): string {
  return [state, version, reason].filter((part) => part !== "").join(" ");
}

/** One object per line: the first, and each that differs from the one before. */
export function jsonShow({ stdout }: CliIo, server: string): StatusShow {
  let last: string | undefined;
  const say = (now: number, content: object): void => { stdout.write(`${escapeJson(JSON.stringify({ time: new Date(now).toISOString(), server, ...content }))}\n`); };
  return {
    show(clients, now) {
      const text = JSON.stringify(clients);
      if (text !== last) say(now, { clients });
      last = text;
    },
    trouble: (message, now) => { say(now, { error: message }); },
    close: () => undefined,
  };
}
