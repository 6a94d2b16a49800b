import type { Clock } from "@xdstp/core";
import type { CliEvent } from "./cli-event.ts";
import type { TextOutput } from "./cli-io.ts";
import { describeEvent } from "./describe-event.ts";
import { jsonEvent } from "./json-event.ts";
import { createLogOutput } from "./log-output.ts";
import type { Reporter } from "./reporter.ts";

/** What a {@link createLineReporter} needs. */
export interface LineReporterOptions {
  readonly output: TextOutput;
  readonly clock: Clock;
  /** One JSON object for each event, for programs; else lines for people. */
  readonly json: boolean;
  /** Called for each number of lines that cannot be written. */
  readonly onLinesLost?: ((lines: number) => void) | undefined;
}

/** Writes each event at once: to logs, pipes and programs, as long as they can take it. Lines of one turn are one write, so that a change that reaches thousands of clients stays cheap. */
export function createLineReporter({
  output,
  clock,
  json,
  onLinesLost,
}: LineReporterOptions): Reporter {
  const format = json ? (shown: CliEvent, time: number) => [jsonEvent(shown, time)] : formatLines;
  const lostLine = (lines: number): string =>
    format({ from: "log", event: { kind: "lines-lost", lines } }, clock.wallTime()).join("\n");
  const log = createLogOutput({
    output,
    clock,
    lostLine,
    ...(onLinesLost && { onLost: onLinesLost }),
  });
  let waiting: string[] = [];
  const flush = (): void => {
    if (waiting.length > 0) log.write(waiting);
    waiting = [];
  };
  return {
    event(shown) {
      if (waiting.length === 0) queueMicrotask(flush);
      waiting.push(...format(shown, clock.wallTime()));
    },
    close: flush,
  };
}

function formatLines(shown: CliEvent, time: number): readonly string[] {
  return describeEvent(shown).map(
    ({ label, text }) => `${new Date(time).toISOString()} ${label.padEnd(11)} ${text}`,
  );
}
