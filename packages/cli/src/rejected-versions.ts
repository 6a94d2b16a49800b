import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JsonValue } from "@bufbuild/protobuf";
import type {
  ClientConfig,
  ClientConfig_GenericXdsConfig,
  ClientStatusResponse,
} from "@xdstp/protos/status";
import type { RejectedVersion } from "@xdstp/relay";
import { counted, escapeText, formatAge, shortVersion } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { columnWidths, cutStart, fitText, type TableRoom } from "./fit-text.ts";
import type { Line } from "./style.ts";
import { fieldsOf } from "./server-facts.ts";

/** The client feature that requests the rejections of a relay's clients, and the `client_scope` of the row that has them in the answer. */
export const REJECTIONS = "xdstp.status.rejections";

/** Returns true if a row of client status has the rejections of a relay, and is not a client. */
export function isOfRejections({ clientScope, node }: ClientConfig): boolean {
  return clientScope === REJECTIONS && node === undefined;
}

/** Returns the versions that clients of a relay have rejected, newest first. Returns `undefined` if the server does not count rejections or does not report them to this caller. */
export function toldRejections({
  config,
}: ClientStatusResponse): readonly RejectedVersion[] | undefined {
  const told = config.filter(isOfRejections);
  return told.length === 0
    ? undefined
    : mergeRejections(told.map(({ genericXdsConfigs }) => genericXdsConfigs.map(rejectionOf)));
}

function rejectionOf({
  typeUrl,
  name,
  errorState,
  xdsConfig,
}: ClientConfig_GenericXdsConfig): RejectedVersion {
  const { clients, among, by } = fieldsOf(xdsConfig);
  const since = errorState?.lastUpdateAttempt;
  return {
    typeUrl,
    name,
    version: errorState?.versionInfo ?? "",
    reason: errorState?.details ?? "",
    since: since === undefined ? 0 : timestampMs(since),
    clients: countOf(clients),
    among: countOf(among),
    by: Array.isArray(by) ? by.filter((one) => typeof one === "string") : [],
  };
}

function countOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 1;
}

/** Merges the rejections of several processes, newest first. A client that is connected to two of them counts once if its name is known. */
export function mergeRejections(
  lists: readonly (readonly RejectedVersion[])[],
): readonly RejectedVersion[] {
  const byVersion = Map.groupBy(lists.flat(), ({ typeUrl, name, version }) =>
    JSON.stringify([typeUrl, name, version]),
  );
  return [...byVersion.values()].map(joined).sort((one, other) => other.since - one.since);
}

function joined(same: readonly RejectedVersion[]): RejectedVersion {
  const first = same.reduce((one, other) => (other.since < one.since ? other : one));
  const by = [...new Set(same.flatMap((one) => one.by))];
  const unnamed = same.reduce((sum, one) => sum + one.clients - one.by.length, 0);
  return {
    ...first,
    by,
    clients: by.length + unnamed,
    among: Math.min(...same.map(({ among }) => among)),
  };
}

const titles = ["REJECTED", "TYPE", "VERSION", "CLIENTS", "AGE"];
/** The largest share of the line for each column. The reason takes the rest. */
const shares = [0.28, 0.14, 0.12, 0.18, 0.05];

/** Returns the rejections as a table: one line for each version of a resource, newest first, with the reason at its end. Returns no line if there are no rejections. */
export function renderRejections(
  rejections: readonly RejectedVersion[],
  { now, most, columns }: TableRoom,
): readonly Line[] {
  if (rejections.length === 0) return [];
  const room = rejections.length + 1 > most ? Math.max(1, most - 2) : rejections.length;
  const shown = rejections.slice(0, room);
  const cells = [titles, ...shown.map((one) => cellsOf(one, now))];
  const widths = columnWidths(cells, shares, columns);
  const row = ([name = "", ...rest]: readonly string[]): string =>
    [cutStart(name, widths[0] ?? 0), ...rest]
      .map((text, at) => `${fitText(text, widths[at] ?? 0)}  `)
      .join("");
  const lines = shown.map((one, at): Line => [
    ["plain", row(cells[at + 1] ?? [])],
    ["error", reasonOf(one)],
  ]);
  const left = rejections.length - room;
  return [
    [["bold", `${row(titles)}NACK`]],
    ...lines,
    ...(left > 0 ? [[["dim", `and ${counted(left, "rejection")} more`]] as const] : []),
  ];
}

/** Returns the first two clients that reject a version, and the number of the others. */
export function rejectedBy({ clients, by }: RejectedVersion): string {
  const named = by.slice(0, 2).map(escapeText);
  return named.length === 0
    ? counted(clients, "client")
    : `${named.join(", ")}${clients > named.length ? ` and ${clients - named.length} more` : ""}`;
}

/** Returns the reason of a rejection. `one of 3: ` at its beginning means that the response had 3 resources: a client accepts or rejects a response as a whole, so the reason may be about another one. */
export function reasonOf({ among, reason }: RejectedVersion): string {
  return `${among > 1 ? `one of ${among}: ` : ""}${escapeText(reason === "" ? "without a text" : reason)}`;
}

function cellsOf(one: RejectedVersion, now: number): readonly string[] {
  return [
    escapeText(one.name),
    shortType(one.typeUrl),
    one.version === "" ? "removal" : shortVersion(one.version),
    rejectedBy(one),
    formatAge(now - one.since),
  ];
}
