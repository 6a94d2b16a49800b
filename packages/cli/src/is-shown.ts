import type { CliEvent } from "./cli-event.ts";

/** What only repeats others: each connection has its streams, and each stream tells of its begin and end itself. */
const repeated: ReadonlySet<string> = new Set([
  "connection-opened",
  "connection-closed",
  "stream-opened",
  "stream-closed",
]);

/** Events that only `--json` shows. Each stream and type has several heartbeats in a TTL, and they change nothing. What is rejected is in a NACK, and by resource in the table of a relay. */
const forPrograms: ReadonlySet<string> = new Set(["heartbeat", "resource-rejected"]);

/** Whether an event is shown at all, to people or to programs. */
export function isShown({ from, event }: CliEvent, json: boolean): boolean {
  return !(from === "server" && repeated.has(event.kind)) && (json || !forPrograms.has(event.kind));
}
