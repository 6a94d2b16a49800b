import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { XdsError } from "@xdstp/core";
import { parseRecording, type RecordedEvent, type Recording } from "@xdstp/recording";
import { CliError, unreadable } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { escapeText } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { jsonText } from "./json-text.ts";

/** A file that is written line by line. */
export interface LineFile {
  /** Writes a line immediately, so that a recording that is interrupted lacks only its end. Does nothing after `close`. */
  line(text: string): void;
  close(): void;
}

/** Creates a file that only this user may read. Throws a CliError if it exists already or cannot be created. */
export function createLineFile(path: string): LineFile {
  const file = open(path);
  let isOpen = true;
  return {
    line(text) {
      if (isOpen) writeSync(file, `${text}\n`);
    },
    close() {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, "wx", 0o600);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(
      1,
      code === "EEXIST"
        ? `${path} is there already; remove it, or name another file`
        : `${path} cannot be made (${code ?? message})`,
      { cause: error },
    );
  }
}

/** Reads a recording. Throws a CliError with the file and the line that is invalid. */
export function readRecording(path: string): Recording {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unreadable(error, path, "give what `xdstp record` has written");
  }
  try {
    return parseRecording(text, path);
  } catch (error) {
    throw new CliError(1, XdsError.from(error).text, { cause: error });
  }
}

/** Returns a function that shows each event of a recording: as a line for people, or as one JSON object. Bytes are not shown, only their number. */
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

/** Returns one message of a recording as a line: its sender, its type and its text. */
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
