import { createCalmReporter } from "./calm-reporter.ts";
import { isShown } from "./is-shown.ts";
import { createLineReporter } from "./line-reporter.ts";
import type { Reporter } from "./reporter.ts";
import { createTableReporter } from "./table-reporter.ts";
import type { ReporterOptions } from "./reporter-options.ts";

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
