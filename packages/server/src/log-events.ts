import { type Clock, type NodeInfo, systemClock } from "@xdstp/core";
import { errorText, type StreamInfo } from "@xdstp/protocol/server";

import type { ServerEvent } from "./server-event.ts";

const levels: readonly LogLine["level"][] = ["info", "warning", "error"];

/**
 * Returns a listener that writes each event as one line of JSON, without the line break:
 * `server.events(logEvents(console.log))`. {@link LogLine} is its shape.
 * Control characters, and characters that change the direction of text, are escaped, since a line
 * may contain texts of clients (S-ACK-15). Keys and passwords in these texts are blanked.
 */
export function logEvents(
  write: (line: string) => void,
  {
    level = "info",
    clock = systemClock,
  }: {
    /** The lowest level that is written. Default: `info`, everything. */
    readonly level?: LogLine["level"];
    /** Default: the system clock. */
    readonly clock?: Clock;
  } = {},
): (event: ServerEvent) => void {
  const least = levels.indexOf(level);
  return (event) => {
    const line = logLine(event, clock.wallTime());
    if (levels.indexOf(line.level) >= least) write(escaped(JSON.stringify(line)));
  };
}

/**
 * Escapes the characters that JSON.stringify does not escape and that a terminal interprets as
 * commands.
 */
function escaped(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * An event as a flat object; a field that does not apply is absent. Texts of clients are unchanged,
 * except that keys and passwords are blanked.
 */
export interface LogLine {
  /** ISO 8601, in UTC. */
  readonly time: string;
  /** The severity. */
  readonly level: "info" | "warning" | "error";
  /** Distinguishes these lines from the lines of the commands. */
  readonly from: "server";
  /** The kind of the event. */
  readonly event: ServerEvent["kind"];
  /** The node id: a claim of the client. */
  readonly client?: string;
  /** The address of the client. */
  readonly peer?: string;
  /** The id of the stream, unique within the process. */
  readonly stream?: number;
  /** The variant of the stream. Absent: the event is not about a stream. */
  readonly variant?: "delta" | "sotw";
  /** The type URL. */
  readonly type?: string;
  /** The version of the response. Absent: the event is not about a response. */
  readonly version?: string;
  /** The nonce of the response. Absent: the event is not about a response. */
  readonly nonce?: string;
  /** The reason: the text of a NACK, why a call was rejected, cut or ended, or an exception. */
  readonly reason?: string;
  /** A gRPC status code, or the code that the client sent. */
  readonly code?: number;
  /** Further fields of the event; see the README. */
  readonly [more: string]: unknown;
}

/** The maximum length of texts; longer ones are cut. */
const TEXT = 4_096;

/** Returns one event as the object of one line. @param time - Milliseconds since the epoch */
export function logLine(event: ServerEvent, time: number): LogLine {
  const { reason, ...fields } = fieldsOf(event);
  return {
    time: new Date(time).toISOString(),
    level: levelOf(event),
    from: "server",
    event: event.kind,
    ...("stream" in event && aboutStream(event.stream)),
    ...("typeUrl" in event && { type: event.typeUrl }),
    ...fields,
    ...(reason !== undefined && reason !== "" && { reason: errorText(reason, TEXT) }),
  };
}

function aboutStream({ id, variant, peer, node }: StreamInfo): Partial<LogLine> {
  return { ...aboutNode(node), peer, stream: id, variant };
}

function aboutNode(node: NodeInfo | undefined): Partial<LogLine> {
  return node === undefined ? {} : { client: node.id };
}

function fieldsOf(event: ServerEvent): Partial<LogLine> {
  switch (event.kind) {
    case "connect":
      return event.stream.service === undefined ? {} : { type: event.stream.service };
    case "subscribe":
      return { added: event.added, dropped: event.dropped };
    case "push":
      return {
        version: event.version,
        nonce: event.nonce,
        resources: event.resources,
        removed: event.removed,
        bytes: event.bytes,
      };
    case "heartbeat":
      return { nonce: event.nonce, resources: event.resources, bytes: event.bytes };
    case "ack":
      return { version: event.version, nonce: event.nonce };
    case "nack":
      return {
        version: event.version,
        accepted: event.accepted,
        nonce: event.nonce,
        code: event.error.code,
        reason: event.error.message,
        ...(event.missed !== undefined && { missed: event.missed }),
      };
    case "order-expired":
      return {
        what: event.what,
        types: event.typeUrls,
        ...(event.names !== undefined && { names: event.names }),
      };
    case "stale-nonce":
      return { nonce: event.nonce };
    case "not-sent":
      return { notSent: event.resources };
    case "disconnect":
      return { code: event.code, reason: event.message };
    case "rejected":
      return {
        peer: event.peer,
        path: event.path,
        code: event.status.code,
        reason: event.reason ?? event.status.message,
      };
    case "fetch":
      return {
        ...aboutNode(event.node),
        names: event.names,
        accepted: event.accepted,
        version: event.version,
        resources: event.resources,
        code: event.error?.code ?? event.status.code,
        reason: event.error?.message ?? event.status.message,
      };
    case "connection-opened":
      return {
        peer: event.peer,
        ...(event.identity && {
          identity: event.identity.uris[0] ?? event.identity.dnsNames[0] ?? event.identity.subject,
        }),
      };
    case "connection-closed":
      return { peer: event.peer };
    case "connection-cut":
      return {
        peer: event.peer,
        reason: event.reason,
        ...(event.detail !== undefined && { detail: event.detail }),
      };
    case "stream-opened":
      return { peer: event.peer, path: event.path };
    case "stream-closed":
      return {
        peer: event.peer,
        path: event.path,
        code: event.status.code,
        reason: event.status.message,
      };
    case "stream-cut":
      return {
        peer: event.peer,
        path: event.path,
        code: event.status.code,
        reason: event.reason,
        detail: event.status.message,
      };
    case "warning":
      return { warning: event.warning, reason: event.message };
    case "fault":
      return {
        where: event.where,
        reason: event.error instanceof Error ? event.error.message : String(event.error),
      };
  }
}

function levelOf(event: ServerEvent): LogLine["level"] {
  switch (event.kind) {
    case "nack":
    case "not-sent":
    case "fault":
      return "error";
    case "fetch":
      return event.error === undefined ? "info" : "error";
    case "warning":
      return warningLevels[event.warning];
    case "rejected":
    case "order-expired":
    case "connection-cut":
    case "stream-cut":
      return "warning";
    default:
      return "info";
  }
}

/**
 * An old version of Node is reported once as information, since the server works. It is not an
 * alarm.
 */
const warningLevels: Readonly<
  Record<Extract<ServerEvent, { kind: "warning" }>["warning"], LogLine["level"]>
> = { "node-version": "info", "unrelated-source": "warning" };
