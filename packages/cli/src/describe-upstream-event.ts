import type { Status } from "@xdstp/core";
import type { UpstreamEvent } from "./cli-event.ts";
import { escapeText } from "./escape-text.ts";
import type { Level, ReportLine } from "./report-line.ts";
import { counted, shortType, shortVersion, someNames } from "./short-text.ts";

/** What happened between a relay and whom it asks, in words. */
export function describeUpstreamEvent(event: UpstreamEvent): ReportLine {
  return { label: event.kind, ...("server" in event ? withServer(event) : ofRelay(event)) };
}

type ServersEvent = Extract<UpstreamEvent, { server: string }>;

function withServer(event: ServersEvent): Pick<ReportLine, "level" | "text"> {
  const { level, text } = onServer(event);
  return { level, text: `${escapeText(event.server)} ${"typeUrl" in event ? `${shortType(event.typeUrl)} ` : ""}${text}` };
}

function onServer(event: ServersEvent): { readonly level: Level; readonly text: string } {
  switch (event.kind) {
    case "opened": return { level: "info", text: event.attempt > 1 ? `is asked again, attempt ${event.attempt}` : "is asked" };
    case "closed": return { level: "warning", text: `is gone: ${closing(event.status)}; asked again in ${(event.retryMs / 1_000).toFixed(1)} s` };
    case "idle": return { level: "info", text: "is not needed for now" };
    case "accepted": return { level: "good", text: `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)}: ${counted(event.resources, "resource")}, ${event.removed} removed` };
    case "refused": return { level: "error", text: `version ${shortVersion(event.version)}, nonce ${escapeText(event.nonce)} is refused: ${escapeText(event.reason)}` };
    case "ignored": return { level: "warning", text: `${counted(event.names, "name")} came that nobody has asked for` };
    case "timeout": return { level: "warning", text: `has not answered in time for ${someNames(event.names)}` };
    case "foreign": return { level: "warning", text: `${counted(event.names, "name")} of authorities that it is not asked for` };
    case "credentials-replaced": return { level: "good", text: `new certificates are shown to it: ${someNames(event.files)}` };
    case "credentials-refused": return { level: "error", text: `new certificates are not used, those before stay: ${escapeText(event.error.text)}` };
  }
}

/** What became of what a relay holds, and to whom it is given. */
function ofRelay(event: Exclude<UpstreamEvent, ServersEvent>): Pick<ReportLine, "level" | "text"> {
  switch (event.kind) {
    case "opaque-refused": return { level: "warning", text: `${shortType(event.typeUrl)} ${someNames(event.names)}: ${escapeText(event.reason)}` };
    case "tenant-refused": return { level: "warning", text: `clients with ${escapeText(JSON.stringify(event.values))}: ${escapeText(event.reason)}` };
    default: return { level: levelOf((event as { readonly kind: string }).kind), text: escapeText("message" in event ? String((event as { readonly message: unknown }).message) : fieldsOf(event)) };
  }
}

function closing({ code, message }: Status): string {
  if (message !== "") return escapeText(message);
  return code === 0 ? "it has ended the stream" : `code ${code}`;
}

function levelOf(kind: string): Level {
  return /refus|fail|corrupt|torn|locked|trouble|lost/.test(kind) ? "warning" : "info";
}

/** Of what has no words of its own. */
function fieldsOf(event: object): string {
  return Object.entries(event).filter(([name]) => name !== "kind").map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
}
