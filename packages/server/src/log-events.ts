import { systemClock, type Clock } from "@xdstp/core";
import { logLine, type LogLevel } from "./log-line.ts";
import type { ServerEvent } from "./server-event.ts";

const levels: readonly LogLevel[] = ["info", "warning", "error"];

/**
 * A listener that writes each event as one line of JSON, without its end: `server.events(logEvents(console.log))`. {@link LogLine} is its shape.
 * Control characters and what could turn the direction of a line are escaped, since it contains texts of clients (S-ACK-15); keys and passwords in them are blanked.
 */
export function logEvents(
  write: (line: string) => void,
  {
    level = "info",
    clock = systemClock,
  }: {
    /** The lowest level that is written. Default: `info`, everything. */
    readonly level?: LogLevel;
    /** Default: the clock of the machine. */
    readonly clock?: Clock;
  } = {},
): (event: ServerEvent) => void {
  const least = levels.indexOf(level);
  return (event) => {
    const line = logLine(event, clock.wallTime());
    if (levels.indexOf(line.level) >= least) write(escaped(JSON.stringify(line)));
  };
}

/** JSON.stringify leaves some characters alone that a terminal takes for commands. */
function escaped(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
