import {
  type HeldBackName,
  type LastError,
  missedText,
  type StreamStatus,
  type TypeStatus,
} from "@xdstp/protocol/server";
import { clientLabel, escapeText, formatAge, shortVersion } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { Tone } from "./style.ts";

/** One type of one client. For a client without subscriptions, `type` is `undefined`. */
export interface StatusEntry {
  readonly stream: StreamStatus;
  readonly type: TypeStatus | undefined;
}

/** One row of the table, as text. */
export interface StatusRow {
  readonly client: string;
  /** Empty: the view of all clients. */
  readonly view: string;
  readonly type: string;
  readonly state: string;
  readonly version: string;
  readonly age: string;
  readonly reason: string;
  readonly tone: Tone;
}

/** Returns an entry for each type of each client. Entries with problems come first, so that a small terminal shows them; the others keep their order. */
export function statusEntries(status: readonly StreamStatus[]): readonly StatusEntry[] {
  const entries = status.flatMap((stream): readonly StatusEntry[] =>
    stream.types.length === 0
      ? [{ stream, type: undefined }]
      : stream.types.map((type) => ({ stream, type })),
  );
  return [...entries.filter(isTroubled), ...entries.filter((entry) => !isTroubled(entry))];
}

/** Returns the row of an entry. `since`: the time of its last event. */
export function statusRow(
  { stream, type }: StatusEntry,
  now: number,
  since: number | undefined,
): StatusRow {
  const client = clientLabel(stream);
  const view = escapeText(stream.viewKey ?? "");
  if (type === undefined)
    return {
      client,
      view,
      type: "-",
      state: "CONNECTED",
      version: "-",
      age: formatAge(now - stream.connectedAt),
      reason: "has asked for nothing yet",
      tone: "dim",
    };
  return {
    client,
    view,
    type: shortType(type.typeUrl),
    state: type.state,
    version: versions(type),
    age: formatAge(now - (begin(type) ?? since ?? stream.connectedAt)),
    reason: reasonOf(type, now),
    tone: toneOf(type),
  };
}

function isTroubled({ type }: StatusEntry): boolean {
  return type !== undefined && (type.stuck || type.lastError !== undefined);
}

/** Returns the version of a type. If the client uses another version than it was sent, returns both: accepted, then sent. */
function versions({ versionSent, versionAccepted }: TypeStatus): string {
  if (versionSent === "") return "-";
  return versionSent === versionAccepted
    ? shortVersion(versionSent)
    : `${shortVersion(versionAccepted)} > ${shortVersion(versionSent)}`;
}

/** Returns when the current state began: the time of the unanswered response, or of the rejection. Returns `undefined` for other states. */
function begin({ state, pendingSince, lastError }: TypeStatus): number | undefined {
  if (state === "STALE") return pendingSince;
  return state === "NACKED" ? lastError?.since : undefined;
}

function reasonOf({ stuck, lastError, state, heldBack = [] }: TypeStatus, now: number): string {
  const rejection =
    lastError === undefined
      ? ""
      : escapeText(
          lastError.message === "" ? `code ${lastError.code}, without a text` : lastError.message,
        ) + missedHint(lastError.missed);
  const silence = stuck ? "no answer" : "";
  const missing = state === "REQUESTED" ? "asks for names that are not there" : "";
  return [silence, rejection, waiting(heldBack, now), missing]
    .filter((part) => part !== "")
    .join("; ");
}

/** Returns the end of the text of a rejection: the reference that the client had not accepted (S-ACK-21). Empty: there is none. */
export function missedHint(missed: LastError["missed"]): string {
  return missed === undefined ? "" : `; it ${escapeText(missedText(missed))}`;
}

/** Returns the first name that waits, the name that it waits for, and its age, for a row of the status (S-ORD-4). Empty: no name waits. */
export function waiting([first, ...more]: readonly HeldBackName[], now?: number): string {
  if (first === undefined) return "";
  const age = now === undefined ? "" : ` since ${formatAge(now - first.since)}`;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  return `${escapeText(first.name)} waits for ${shortType(first.forType)} ${escapeText(first.for)}${age}${others}`;
}

function toneOf({ state, stuck }: TypeStatus): Tone {
  if (state === "NACKED" || stuck) return "error";
  return state === "SYNCED" ? "good" : "warning";
}
