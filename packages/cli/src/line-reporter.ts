import { type Clock, XdsError } from "@xdstp/core";
import { type LogLine, logLine } from "@xdstp/server";
import type { CliEvent } from "./cli-event.ts";
import type { TextOutput } from "./cli-io.ts";
import { describeEvent } from "./describe-event.ts";
import type { Reporter } from "./reporter.ts";
import { jsonText } from "./json-text.ts";

/** The options of {@link createLineReporter}. */
interface LineReporterOptions {
  readonly output: TextOutput;
  readonly clock: Clock;
  /** true: writes one JSON object for each event. false: writes lines for people. */
  readonly json: boolean;
  /** Called with the number of lines that could not be written. */
  readonly onLinesLost?: ((lines: number) => void) | undefined;
}

/** Creates a reporter that writes each event at once, as long as the output accepts it. The lines of one turn of the event loop are one write, so that a change that is sent to thousands of clients stays cheap. */
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

type OwnEvent = Exclude<CliEvent, { readonly from: "server" }>;

/** Returns an event as one line of JSON: `schema`, `time` in ISO 8601, `level`, `from`, `event` (its kind), and its other fields. Events of the server have the fields of `logEvents`. Control characters are escaped (S-ACK-15). */
function jsonEvent(shown: CliEvent, time: number): string {
  const line = shown.from === "server" ? logLine(shown.event, time) : ownLine(shown, time);
  const { worker, more } = shown;
  return jsonText({
    ...line,
    ...(worker !== undefined && { worker }),
    ...(more !== undefined && { more }),
  });
}

function ownLine(shown: OwnEvent, time: number): object {
  const {
    from,
    event: { kind, ...rest },
  } = shown;
  const fields = Object.entries(rest).map(
    ([name, value]) => [name === "typeUrl" ? "type" : name, plain(value)] as const,
  );
  return {
    time: new Date(time).toISOString(),
    level: levelOf(shown),
    from,
    event: kind,
    ...Object.fromEntries(fields),
  };
}

/** Returns the highest level of the lines that people would see of the event. */
function levelOf(shown: OwnEvent): LogLine["level"] {
  const said = describeEvent(shown).map(({ level }) => level);
  return (["error", "warning"] as const).find((level) => said.includes(level)) ?? "info";
}

function plain(value: unknown): unknown {
  if (value instanceof XdsError) {
    const { code, text, context } = value;
    return { code, message: text, ...(context.rule !== undefined && { rule: context.rule }) };
  }
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]))
    : value;
}

/** The options of {@link createLogOutput}. */
interface LogOutputOptions {
  readonly output: TextOutput;
  readonly clock: Clock;
  /** Returns the line that reports lost lines. It is written first when lines can be written again. */
  readonly lostLine: (lines: number) => string;
  /** Called with the number of lines that are lost. */
  readonly onLost?: (lines: number) => void;
  /** The number of bytes that may wait for a slow reader. Default: 4 MiB. */
  readonly mostWaitingBytes?: number;
}

/** A log that cannot fail and does not grow without bound. */
interface LogOutput {
  /** Writes the lines. While the output fails, or too many bytes wait for its reader, the lines are counted as lost. */
  write(lines: readonly string[]): void;
}

/** Milliseconds until the next attempt after the output has failed. */
const retryMs = 1_000;

/** Creates a log over an output that may be full, slow or closed. */
export function createLogOutput({
  output,
  clock,
  lostLine,
  onLost,
  mostWaitingBytes = 4 << 20,
}: LogOutputOptions): LogOutput {
  let lost = 0;
  let retryAt = -Infinity;
  const lose = (lines: readonly string[]): void => {
    lost += lines.length;
    onLost?.(lines.length);
  };
  const fail = (lines: readonly string[]): void => {
    lose(lines);
    retryAt = clock.now() + retryMs;
  };
  const isBlocked = (): boolean =>
    clock.now() < retryAt ||
    output.destroyed === true ||
    (output.writableLength ?? 0) > mostWaitingBytes;
  return {
    write(lines) {
      if (isBlocked()) {
        lose(lines);
        return;
      }
      const before = lost;
      const head = before === 0 ? [] : [lostLine(before)];
      const onDone = (error?: Error | null): void => {
        if (error === undefined || error === null) return;
        // The line that reports lost lines is lost too.
        lost += before;
        fail(lines);
      };
      try {
        output.write(`${[...head, ...lines].join("\n")}\n`, onDone);
        lost = 0;
      } catch {
        fail(lines);
      }
    },
  };
}
