import type { UpstreamStatus } from "@xdstp/relay";
import { errorText } from "./cli-error.ts";
import { counted, escapeText, formatAge, someNames } from "./short-text.ts";
import { columnWidths, fitText, type TableRoom, wrapText } from "./fit-text.ts";
import type { Line, Tone } from "./style.ts";

const titles = ["UPSTREAM", "AUTHORITIES", "STATE", "LAST", "HITS", "STALE"];
/** The largest share of the line for each column. */
const shares = [0.36, 0.2, 0.14, 0.05, 0.05, 0.06];

/** Returns the servers upstream as a table. Servers with problems come first, each with the reason below it. */
export function renderUpstreams(
  upstreams: readonly UpstreamStatus[],
  { now, most, columns }: TableRoom,
): readonly Line[] {
  const sorted = [...upstreams].sort(
    (one, other) => Number(isTroubled(other)) - Number(isTroubled(one)),
  );
  const cells = [titles, ...sorted.map((one) => cellsOf(one, now))];
  const widths = columnWidths(cells, shares, columns);
  const row = (texts: readonly string[]): string =>
    texts
      .map((text, at) => fitText(text, widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  const lines: Line[] = [[["bold", row(titles)]]];
  for (const [at, one] of sorted.entries()) {
    const more = [[[toneOf(one), row(cells[at + 1] ?? [])]] as Line, ...reasonLines(one, columns)];
    const left = sorted.length - at - 1;
    if (lines.length + more.length + (left > 0 ? 1 : 0) > most && at > 0)
      return [...lines, [["dim", `and ${counted(left + 1, "upstream")} more`]]];
    lines.push(...more);
  }
  return lines;
}

function cellsOf(
  {
    name,
    authorities,
    isDefault,
    state,
    lastWordAt,
    staleSince,
    lookUps: { held, asked },
  }: UpstreamStatus,
  now: number,
): readonly string[] {
  const ago = (at: number | undefined): string => (at === undefined ? "-" : formatAge(now - at));
  const names = someNames([...authorities, ...(isDefault ? ["(default)"] : [])]);
  return [
    escapeText(name),
    names,
    state,
    ago(lastWordAt),
    held + asked === 0 ? "-" : `${Math.floor((100 * held) / (held + asked))}%`,
    ago(staleSince),
  ];
}

function reasonLines({ failure }: UpstreamStatus, columns: number): readonly Line[] {
  return failure === undefined
    ? []
    : wrapText(escapeText(errorText(failure)), columns - 4, 2).map((text): Line => [
        ["plain", "    "],
        ["error", text],
      ]);
}

function isTroubled({ state, staleSince }: UpstreamStatus): boolean {
  return state === "unreachable" || staleSince !== undefined;
}

function toneOf(one: UpstreamStatus): Tone {
  if (one.state === "unreachable") return "error";
  return isTroubled(one)
    ? "warning"
    : ({ idle: "dim", connecting: "plain", answering: "plain" }[one.state] as Tone);
}
