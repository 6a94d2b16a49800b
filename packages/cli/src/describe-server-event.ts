import type { HeldBackName, NotSent } from "@xdstp/protocol/server";
import type { ServerEvent } from "@xdstp/server";
import { clientLabel, counted, escapeText, shortVersion, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { Level, ReportLine } from "./reporter.ts";
import { limitHint } from "./named-limits.ts";
import { missedHint, waiting } from "./status-row.ts";

/** Returns an event on a stream or a connection as a line of text. */
export function describeServerEvent(event: ServerEvent): ReportLine {
  return "stream" in event ? describeStream(event) : describeWire(event);
}

type OnStream = Extract<ServerEvent, { stream: unknown }>;
type OffStream = Exclude<ServerEvent, OnStream>;

/** The level of each event on a stream. */
const levels: Readonly<Record<OnStream["kind"], Level>> = {
  connect: "info",
  subscribe: "info",
  push: "info",
  heartbeat: "info",
  ack: "good",
  nack: "error",
  "order-expired": "warning",
  "stale-nonce": "info",
  "not-sent": "error",
  disconnect: "info",
};

function describeStream(event: OnStream): ReportLine {
  return {
    level: levels[event.kind],
    label: event.kind,
    text: `${clientLabel(event.stream)} #${event.stream.id}${"typeUrl" in event ? ` ${shortType(event.typeUrl)}` : ""} ${onStream(event)}`,
  };
}

function onStream(event: OnStream): string {
  switch (event.kind) {
    case "connect":
      return `${event.stream.variant} ${event.stream.service === undefined ? "ads" : shortType(event.stream.service)}`;
    case "subscribe":
      return (
        [
          ...listed("subscribes to", event.added),
          ...listed("unsubscribes from", event.dropped),
        ].join(", ") || "requests"
      );
    case "push":
      return `version ${shortVersion(event.version)}, nonce ${event.nonce}: ${counted(event.resources, "resource")}, ${event.removed} removed, ${counted(event.bytes, "byte")}`;
    case "heartbeat":
      return `nonce ${event.nonce}: ${counted(event.resources, "resource")} kept alive`;
    case "ack":
      return `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)}`;
    case "nack":
      return `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)}, keeps ${shortVersion(event.accepted)}: ${escapeText(event.error.message)}${missedHint(event.missed)}`;
    case "order-expired":
      return `waits no longer for answers: sends ${event.what === "cut" ? "what follows them" : "removals"} of ${event.typeUrls.map(shortType).join(", ")}${waitedFor(event.names)}`;
    case "stale-nonce":
      return `nonce ${escapeText(event.nonce)} is not the newest`;
    case "not-sent":
      return event.resources
        .slice(0, 3)
        .map((one) => `${escapeText(one.name)} is not sent: ${whyNot(one)}`)
        .join("; ");
    case "disconnect":
      return `code ${event.code}${event.message === "" ? "" : `: ${escapeText(event.message)}${limitHint(event.message)}`}`;
  }
}

/** Explains why a resource was not sent. A larger limit helps only if the client accepts messages of this size too; a client that does not ends the stream. */
function whyNot(one: NotSent): string {
  if (one.reason === "needs-wrapper")
    return "it can only travel inside Resource, which this client does not read";
  const what = one.limit === "responseBytes" ? "it has" : "it is part of a state of";
  return `${what} ${one.bytes.toLocaleString("en")} bytes; --limit ${one.limit}=${Math.ceil((one.bytes * 11) / 10)} makes room, for clients that take as much (gRPC: 4 MiB by default)`;
}

function listed(verb: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${verb} ${someNames(names)}`];
}

function describeWire(event: OffStream): ReportLine {
  switch (event.kind) {
    case "rejected":
      return {
        level: "warning",
        label: "turned away",
        text: `${escapeText(event.peer)} ${escapeText(event.path)}: ${escapeText(event.status.message)}${because(event.reason, event.status.message)}`,
      };
    case "fetch":
      return fetched(event);
    case "connection-cut":
      return {
        level: "warning",
        label: "cut",
        text: `${event.peer}: ${event.reason}${because(event.detail, event.reason)}`,
      };
    case "stream-cut":
      return {
        level: "warning",
        label: "cut",
        text: `${event.peer} ${escapeText(event.path)}: ${event.reason}, ${escapeText(event.status.message)}`,
      };
    case "warning":
      return { ...warnings[event.warning], text: escapeText(event.message) };
    case "fault":
      return {
        level: "error",
        label: "fault",
        text: `${event.where}: ${escapeText(event.error instanceof Error ? event.error.message : String(event.error))}`,
      };
    default:
      return { level: "info", label: event.kind, text: escapeText(event.peer) };
  }
}

/** The warning about an old version of Node is a note: it is repeated at each start, and is not a problem of the configuration. */
const warnings = {
  "node-version": { level: "info", label: "note" },
  "unrelated-source": { level: "warning", label: "warning" },
} as const;

/** Returns the reason that only operators see, in brackets. Empty if the client is sent the same text. */
function because(reason: string | undefined, told: string): string {
  return reason === undefined || reason === told ? "" : ` (${escapeText(reason)})`;
}

function fetched(event: Extract<OffStream, { kind: "fetch" }>): ReportLine {
  const rejection =
    event.error === undefined
      ? ""
      : `, rejects the answer before: ${escapeText(event.error.message)}`;
  const answer =
    event.status.code === 0
      ? `version ${shortVersion(event.version)}, ${counted(event.resources, "resource")}`
      : escapeText(event.status.message);
  return {
    level: event.error === undefined ? "info" : "error",
    label: "fetch",
    text: `${escapeText(event.node?.id ?? "") || "a client"} ${shortType(event.typeUrl)} ${answer}${rejection}`,
  };
}

/** Returns the names that have waited and the reason, for the end of a text. Empty if no names are known. */
function waitedFor(names: readonly HeldBackName[] = []): string {
  return names.length === 0 ? "" : `: ${waiting(names)}`;
}
