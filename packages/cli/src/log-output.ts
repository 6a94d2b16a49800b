import type { Clock } from "@xdstp/core";
import type { TextOutput } from "./cli-io.ts";

/** What a {@link createLogOutput} needs. */
export interface LogOutputOptions {
  readonly output: TextOutput;
  readonly clock: Clock;
  /** The line that says how many were lost, written first once lines can be written again. */
  readonly lostLine: (lines: number) => string;
  /** Called for each number of lines that are lost. */
  readonly onLost?: (lines: number) => void;
  /** Bytes that may wait for a slow reader. Default: 4 MiB. */
  readonly mostWaitingBytes?: number;
}

/** A log that never ends a server and never grows without bound. */
export interface LogOutput {
  /** Writes lines, or counts them as lost: while the output fails, and while too much waits for its reader. */
  write(lines: readonly string[]): void;
}

/** Milliseconds between two tries while the output fails. */
const retryMs = 1_000;

/** A log over an output that may be full, slow or gone. */
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
        // The line that says how many were lost is lost too.
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
