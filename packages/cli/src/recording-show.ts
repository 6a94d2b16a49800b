import type { RecordedEvent } from "@xdstp/recording";
import type { CliIo } from "./cli-io.ts";
import { escapeText } from "./escape-text.ts";
import { jsonText } from "./json-text.ts";
import { shortType } from "./short-text.ts";

/** Shows each event of a recording as it is written: a line for people, or one object of JSON. Bytes stay in the file. */
export function createRecordingShow(
  { stdout, clock }: CliIo,
  json: boolean,
): (event: RecordedEvent) => void {
  return (event) => {
    const time = new Date(clock.wallTime()).toISOString();
    if (!json) stdout.write(`${time} #${event.stream} ${textOf(event)}\n`);
    else if ("bytes" in event)
      stdout.write(`${jsonText({ time, ...event, bytes: event.bytes.length })}\n`);
    else stdout.write(`${jsonText({ time, ...event })}\n`);
  };
}

function textOf(event: RecordedEvent): string {
  if (event.kind === "open") return `asks ${escapeText(event.server)}`;
  if (event.kind === "end")
    return `ended by the ${event.by}: code ${event.status.code} ${escapeText(event.status.message)}`;
  return messageText(event);
}

/** One message in a line: who says what of which type. */
export function messageText({
  kind,
  type,
  text,
}: {
  readonly kind: "request" | "response";
  readonly type: string;
  readonly text: string;
}): string {
  return `${kind === "request" ? "client" : "server"} ${type === "" ? "?" : shortType(type)}: ${escapeText(text)}`;
}
