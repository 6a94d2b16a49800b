import { createCalmReporter } from "./calm-reporter.ts";
import { createLineReporter } from "./line-reporter.ts";
import type { Reporter, ReporterOptions } from "./reporter.ts";
import { createTableReporter } from "./table-reporter.ts";
import type { CliEvent } from "./cli-event.ts";

/** A live table on a terminal; lines elsewhere, and with JSON. */
export function createReporter(options: ReporterOptions): Reporter {
  const {
    io,
    io: { stdout, clock },
    json,
    onLinesLost,
  } = options;
  // The table does not have a line for an event on a stream. Such an event draws the table again, at most four times a second.
  const reporter =
    json || io.terminal() === undefined
      ? createCalmReporter(createLineReporter({ output: stdout, clock, json, onLinesLost }), clock)
      : createCalmReporter(createTableReporter(options), clock, Infinity);
  return {
    event: (shown) => {
      if (isShown(shown, json)) reporter.event(shown);
    },
    close: () => {
      reporter.close();
    },
  };
}

/** Events that repeat others: a connection has streams, and each stream reports its own begin and end. */
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
