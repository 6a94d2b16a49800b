import type { Status } from "@xdstp/core";
import type { UpstreamEvent } from "./cli-event.ts";
import { withRule } from "./cli-error.ts";
import { counted, escapeText, shortVersion, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { Level, ReportLine } from "./reporter.ts";
import { limitHint } from "./named-limits.ts";

/** The level of each event of a relay. */
const levels: Readonly<Record<UpstreamEvent["kind"], Level>> = {
  opened: "info",
  closed: "warning",
  idle: "info",
  accepted: "good",
  rejected: "error",
  ignored: "warning",
  timeout: "warning",
  "upstream-full": "warning",
  foreign: "warning",
  "credentials-replaced": "good",
  "credentials-rejected": "error",
  "opaque-rejected": "warning",
  "resource-rejected": "error",
  "tenant-rejected": "warning",
  "snapshot-opened": "good",
  "snapshot-well": "good",
  "snapshot-evicted": "info",
  "snapshot-set-aside": "error",
  "snapshot-lost": "error",
  "snapshot-trouble": "error",
  "snapshot-locked": "warning",
};

/** Returns an event of a relay, or of a stream to a server upstream, as a line of text. */
export function describeUpstreamEvent(event: UpstreamEvent): ReportLine {
  const text =
    "server" in event
      ? `${escapeText(event.server)} ${"typeUrl" in event ? `${shortType(event.typeUrl)} ` : ""}${onServer(event)}`
      : ofRelay(event);
  return { level: levels[event.kind], label: event.kind, text };
}

type ServersEvent = Extract<UpstreamEvent, { server: string }>;

function onServer(event: ServersEvent): string {
  switch (event.kind) {
    case "opened":
      return event.attempt > 1 ? `is asked again, attempt ${event.attempt}` : "is asked";
    case "closed":
      return `is away: ${closing(event.status)}; next attempt in ${(event.retryMs / 1_000).toFixed(1)} s`;
    case "idle":
      return "is not needed for now";
    case "accepted":
      return `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)}: ${counted(event.resources, "resource")}, ${event.removed} removed`;
    case "rejected":
      return `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)} is rejected: ${escapeText(withRule(event.reason, event.rule))}`;
    case "ignored":
      return `${counted(event.names, "name")} came without a subscription`;
    case "timeout":
      return `has not answered in time for ${someNames(event.names)}`;
    case "upstream-full":
      return `${someNames(event.names)}: ${escapeText(event.reason)}`;
    case "foreign":
      return `${counted(event.names, "name")} of authorities that it is not asked for`;
    case "credentials-replaced":
      return `new certificates are shown to it: ${someNames(event.files)}`;
    case "credentials-rejected":
      return `new certificates are not used, those before stay: ${escapeText(event.error.text)}`;
  }
}

/** Returns an event about the clients and the snapshot of a relay as text. */
function ofRelay(event: Exclude<UpstreamEvent, ServersEvent>): string {
  switch (event.kind) {
    case "opaque-rejected":
      return `${shortType(event.typeUrl)} ${someNames(event.names)}: ${escapeText(event.reason)}`;
    case "resource-rejected":
      return `${shortType(event.typeUrl)} ${escapeText(event.name)} ${event.version === "" ? "removal" : `version ${shortVersion(event.version)}`} by ${escapeText(event.client)}: ${event.among > 1 ? `one of ${event.among}: ` : ""}${escapeText(event.reason)}`;
    case "tenant-rejected":
      return `clients with ${escapeText(JSON.stringify(event.values))}: ${escapeText(event.reason)}`;
    case "snapshot-opened":
      return `${escapeText(event.dir)}: ${counted(event.resources, "resource")} in ${event.ms.toFixed(0)} ms`;
    case "snapshot-well":
      return `${escapeText(event.dir)} can be written again`;
    case "snapshot-evicted":
      return `${counted(event.resources, "resource")} without subscribers, ${counted(event.bytes, "byte")}`;
    case "snapshot-set-aside":
    case "snapshot-lost":
    case "snapshot-trouble":
    case "snapshot-locked":
      return escapeText(event.message);
  }
}

function closing({ code, message }: Status): string {
  if (message !== "") return `${escapeText(message)}${limitHint(message)}`;
  return code === 0 ? "it has ended the stream" : `code ${code}`;
}
