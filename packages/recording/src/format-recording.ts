import type { RecordedEvent, Recording, RecordingHeader } from "./recording.ts";

/** The first line of a recording, without its end. */
export function formatHeader({ variant, path, server, node, time }: RecordingHeader): string {
  return JSON.stringify({
    xdstp: "recording",
    format: 1,
    time: new Date(time).toISOString(),
    variant,
    path,
    server,
    node,
  });
}

/** The line of an event, without its end. */
export function formatEvent(event: RecordedEvent): string {
  if ("bytes" in event) {
    const { at, stream, kind, type, nonce, text, bytes } = event;
    return JSON.stringify({
      at,
      stream,
      kind,
      type,
      nonce,
      text,
      bytes: Buffer.from(bytes).toString("base64"),
    });
  }
  if (event.kind === "open")
    return JSON.stringify({
      at: event.at,
      stream: event.stream,
      kind: "open",
      server: event.server,
    });
  const {
    at,
    stream,
    kind,
    by,
    status: { code, message },
  } = event;
  return JSON.stringify({ at, stream, kind, by, code, message });
}

/** A recording as JSON lines. */
export function formatRecording(recording: Recording): string {
  return [formatHeader(recording), ...recording.events.map(formatEvent), ""].join("\n");
}
