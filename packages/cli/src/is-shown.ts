import type { CliEvent } from "./cli-event.ts";

/** What only repeats others: each connection has its streams, and each stream tells of its begin and end itself. */
const repeated: ReadonlySet<string> = new Set(["connection-opened", "connection-closed", "stream-opened", "stream-closed"]);

/** Whether an event is shown at all, to people or to programs. People are spared heartbeats: each stream and type has one several times in a TTL, and they change nothing. */
export function isShown({ from, event }: CliEvent, json: boolean): boolean {
  return from !== "server" || !(repeated.has(event.kind) || (!json && event.kind === "heartbeat"));
}
