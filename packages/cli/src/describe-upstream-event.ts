import type { Status } from "@xdstp/core";
import type { UpstreamEvent } from "./cli-event.ts";
import { withRule } from "./cli-error.ts";
import { counted, escapeText, shortType, shortVersion, someNames } from "./short-text.ts";
import type { Level, ReportLine } from "./reporter.ts";
import { limitHint } from "./named-limits.ts";

/** What happened between a relay and whom it asks, in words. */
export function describeUpstreamEvent(event: UpstreamEvent): ReportLine {
  return { label: event.kind, ...("server" in event ? withServer(event) : ofRelay(event)) };
}

type ServersEvent = Extract<UpstreamEvent, { server: string }>;

function withServer(event: ServersEvent): Pick<ReportLine, "level" | "text"> {
  const { level, text } = onServer(event);
  return {
    level,
    text: `${escapeText(event.server)} ${"typeUrl" in event ? `${shortType(event.typeUrl)} ` : ""}${text}`,
  };
}

function onServer(event: ServersEvent): { readonly level: Level; readonly text: string } {
  switch (event.kind) {
    case "opened":
      return {
        level: "info",
        text: event.attempt > 1 ? `is asked again, attempt ${event.attempt}` : "is asked",
      };
    case "closed":
      return {
        level: "warning",
        text: `is away: ${closing(event.status)}; next attempt in ${(event.retryMs / 1_000).toFixed(1)} s`,
      };
    case "idle":
      return { level: "info", text: "is not needed for now" };
    case "accepted":
      return {
        level: "good",
        text: `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)}: ${counted(event.resources, "resource")}, ${event.removed} removed`,
      };
    case "rejected":
      return {
        level: "error",
        text: `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)} is rejected: ${escapeText(withRule(event.reason, event.rule))}`,
      };
    case "ignored":
      return {
        level: "warning",
        text: `${counted(event.names, "name")} came without a subscription`,
      };
    case "timeout":
      return { level: "warning", text: `has not answered in time for ${someNames(event.names)}` };
    case "upstream-full":
      return { level: "warning", text: `${someNames(event.names)}: ${escapeText(event.reason)}` };
    case "foreign":
      return {
        level: "warning",
        text: `${counted(event.names, "name")} of authorities that it is not asked for`,
      };
    case "credentials-replaced":
      return { level: "good", text: `new certificates are shown to it: ${someNames(event.files)}` };
    case "credentials-rejected":
      return {
        level: "error",
        text: `new certificates are not used, those before stay: ${escapeText(event.error.text)}`,
      };
  }
}

/** What became of what a relay holds, and to whom it is given. */
function ofRelay(event: Exclude<UpstreamEvent, ServersEvent>): Pick<ReportLine, "level" | "text"> {
  switch (event.kind) {
    case "opaque-rejected":
      return {
        level: "warning",
        text: `${shortType(event.typeUrl)} ${someNames(event.names)}: ${escapeText(event.reason)}`,
      };
    case "resource-rejected":
      return {
        level: "error",
        text: `${shortType(event.typeUrl)} ${escapeText(event.name)} ${event.version === "" ? "removal" : `version ${shortVersion(event.version)}`} by ${escapeText(event.client)}: ${event.among > 1 ? `one of ${event.among}: ` : ""}${escapeText(event.reason)}`,
      };
    case "tenant-rejected":
      return {
        level: "warning",
        text: `clients with ${escapeText(JSON.stringify(event.values))}: ${escapeText(event.reason)}`,
      };
    case "snapshot-opened":
      return {
        level: "good",
        text: `${escapeText(event.dir)}: ${counted(event.resources, "resource")} in ${event.ms.toFixed(0)} ms`,
      };
    case "snapshot-well":
      return { level: "good", text: `${escapeText(event.dir)} can be written again` };
    case "snapshot-evicted":
      return {
        level: "info",
        text: `${counted(event.resources, "resource")} without subscribers, ${counted(event.bytes, "byte")}`,
      };
    case "snapshot-set-aside":
    case "snapshot-lost":
    case "snapshot-trouble":
      return { level: "error", text: escapeText(event.message) };
    case "snapshot-locked":
      return { level: "warning", text: escapeText(event.message) };
  }
}

function closing({ code, message }: Status): string {
  if (message !== "") return `${escapeText(message)}${limitHint(message)}`;
  return code === 0 ? "it has ended the stream" : `code ${code}`;
}
