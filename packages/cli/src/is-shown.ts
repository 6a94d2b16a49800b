import type { CliEvent } from "./cli-event.ts";

/** What only repeats others: each connection has its streams, and each stream tells of its begin and end itself. */
const repeated: ReadonlySet<string> = new Set(["connection-opened", "connection-closed", "stream-opened", "stream-closed"]);

/** Whether an event is shown to people and programs at all. */
export function isShown({ from, event }: CliEvent): boolean {
  return from !== "server" || !repeated.has(event.kind);
}
