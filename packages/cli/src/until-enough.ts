import type { CliIo } from "./cli-io.ts";

/** Why something that runs on has ended. */
export type Enough = "count" | "time" | "signal" | "broken-pipe";

/** When a command that runs on has done enough. */
export interface UntilEnough {
  /** One more of what is counted. */
  count(): void;
  /** Settles once, with the reason. */
  readonly enough: Promise<Enough>;
  readonly counted: number;
  /** Listens no more. */
  stop(): void;
}

/** @param limits - absent ones do not end it */
export function untilEnough(
  io: CliIo,
  { count, timeoutMs }: { readonly count?: number; readonly timeoutMs?: number },
): UntilEnough {
  let counted = 0;
  let end: (reason: Enough) => void = () => undefined;
  const enough = new Promise<Enough>((resolve) => {
    end = resolve;
  });
  const unlisten = io.onSignal((signal) => {
    end(signal === "SIGPIPE" ? "broken-pipe" : "signal");
  });
  const timer =
    timeoutMs === undefined
      ? undefined
      : io.clock.after(timeoutMs, () => {
          end("time");
        });
  return {
    enough,
    get counted() {
      return counted;
    },
    count() {
      counted++;
      if (counted === count) end("count");
    },
    stop() {
      unlisten();
      timer?.cancel();
    },
  };
}
