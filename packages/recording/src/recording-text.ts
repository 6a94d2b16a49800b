import { XdsError } from "@xdstp/core";
import type { RecordedEvent, Recording } from "./recording.ts";

/**
 * Returns a recording as JSON lines, each with its line end. For a recording without events it
 * returns only the first line; {@link formatEvent} makes the lines that follow.
 */
export function formatRecording(recording: Recording): string {
  const { variant, path, server, node, time, events } = recording;
  const header = {
    xdstp: "recording",
    format: 1,
    time: new Date(time).toISOString(),
    variant,
    path,
    server,
    node,
  };
  return [JSON.stringify(header), ...events.map(formatEvent), ""].join("\n");
}

/** Returns the line of an event, without its line end. */
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

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses the text that `formatRecording` writes. It ignores an incomplete last line, which remains
 * when the recorder was stopped while it wrote.
 *
 * Throws an XdsError with the code INVALID_ARGUMENT, which names `source` (default: `recording`),
 * the line and what is wrong with the line.
 */
export function parseRecording(text: string, source = "recording"): Recording {
  const lines = text.split("\n");
  const whole = lines
    .slice(0, -1)
    .map((line, index) => ({ line, place: `${source}:${index + 1}` }))
    .filter(({ line }) => line.trim() !== "");
  const [first, ...rest] = whole;
  if (first === undefined) throw wrong(source, "is empty; give what `xdstp record` has written");
  return {
    ...header(fieldsOf(first.line, first.place), first.place),
    events: rest.map(({ line, place }) => eventOf(fieldsOf(line, place), place)),
  };
}

function wrong(place: string, problem: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `${place}: ${problem}`);
}

function fieldsOf(line: string, place: string): Fields {
  try {
    const json: unknown = JSON.parse(line);
    if (typeof json === "object" && json !== null) return json as Fields;
  } catch {
    /* told below */
  }
  throw wrong(place, "is not a JSON object");
}

function header(fields: Fields, place: string): Omit<Recording, "events"> {
  if (fields.xdstp !== "recording")
    throw wrong(place, 'is not a first line of a recording, which has "xdstp":"recording"');
  if (fields.format !== 1)
    throw wrong(place, `has the format ${JSON.stringify(fields.format)}; this version reads 1`);
  const { variant } = fields;
  if (variant !== "delta" && variant !== "sotw")
    throw wrong(place, 'needs "variant":"delta" or "sotw"');
  const time = Date.parse(text(fields, "time", place));
  return {
    variant,
    path: text(fields, "path", place),
    server: text(fields, "server", place),
    node: text(fields, "node", place),
    time: Number.isNaN(time) ? 0 : time,
  };
}

function eventOf(fields: Fields, place: string): RecordedEvent {
  const moment = { at: number(fields, "at", place), stream: number(fields, "stream", place) };
  const { kind } = fields;
  switch (kind) {
    case "open":
      return { ...moment, kind, server: text(fields, "server", place) };
    case "request":
    case "response":
      return {
        ...moment,
        kind,
        type: text(fields, "type", place),
        nonce: text(fields, "nonce", place),
        text: text(fields, "text", place),
        bytes: bytesOf(text(fields, "bytes", place), place),
      };
    case "end":
      return {
        ...moment,
        kind,
        by: fields.by === "client" ? "client" : "server",
        status: { code: number(fields, "code", place), message: text(fields, "message", place) },
      };
    default:
      throw wrong(
        place,
        `has the kind ${JSON.stringify(kind)}; there are open, request, response and end`,
      );
  }
}

function bytesOf(base64: string, place: string): Uint8Array {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw wrong(place, '"bytes" is not valid base64');
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

function text(fields: Fields, name: string, place: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw wrong(place, `needs a string "${name}"`);
}

function number(fields: Fields, name: string, place: string): number {
  const value = fields[name];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong(place, `needs a number "${name}"`);
}
