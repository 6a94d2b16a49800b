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
  const reporter = createCalmReporter(
    json || io.terminal() === undefined
      ? createLineReporter({ output: stdout, clock, json, onLinesLost })
      : createTableReporter(options),
    clock,
  );
  return {
    event: (shown) => {
      if (isShown(shown, json)) reporter.event(shown);
    },
    close: () => {
      reporter.close();
    },
  };
}
