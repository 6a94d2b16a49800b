import type { CliIo, StopSignal } from "./cli-io.ts";
import type { ServeEvent } from "./cli-event.ts";

/** The options of {@link untilStopped}. */
interface UntilStoppedOptions {
  readonly io: CliIo;
  /** Resolves if changes are no longer followed, with the reason; with `undefined` if this was on purpose. */
  readonly failed: Promise<unknown>;
  /** Closes everything in order. */
  readonly close: () => Promise<void>;
  /** Returns the number of open streams. */
  readonly streams: () => number;
  readonly say: (event: ServeEvent) => void;
}

/** Waits for a signal to stop, then closes in order. A second signal ends the wait for that. Returns the exit code. */
export async function untilStopped({
  io,
  failed,
  close,
  streams,
  say,
}: UntilStoppedOptions): Promise<0 | 1> {
  const wishes = wishesOf(io);
  try {
    const first = await Promise.race([wishes.next(), failed.then(() => undefined)]);
    if (first !== undefined) say({ kind: "stopping", signal: first, streams: streams() });
    const done = await Promise.race([close().then(() => true), wishes.next().then(() => false)]);
    if (done) say({ kind: "stopped" });
    return done && first !== undefined && first !== "SIGPIPE" ? 0 : 1;
  } finally {
    wishes.stop();
  }
}

interface Wishes {
  next(): Promise<StopSignal>;
  stop(): void;
}

/**
 * Returns the signals to stop, one at a time. Signals that come before the caller waits are kept.
 * A log without a reader (SIGPIPE) stops only a command that was started at a terminal, and only as the first signal: a terminal that is closed sends a signal and then accepts no more text, which is one request and not two.
 */
function wishesOf(io: CliIo): Wishes {
  const kept: StopSignal[] = [];
  let isFirst = true;
  let give: ((signal: StopSignal) => void) | undefined;
  const stop = io.onSignal((signal) => {
    if (signal === "SIGPIPE" && (!isFirst || !io.interactive)) return;
    isFirst = false;
    if (give === undefined) kept.push(signal);
    else give(signal);
    give = undefined;
  });
  return {
    stop,
    next: async () =>
      new Promise((resolve) => {
        const signal = kept.shift();
        if (signal === undefined) give = resolve;
        else resolve(signal);
      }),
  };
}

/** The reason why a command has ended. */
type Enough = "count" | "time" | "signal" | "broken-pipe";

/** The limits of a command that runs until it has seen enough. */
export interface UntilEnough {
  /** Counts one event. */
  count(): void;
  /** Resolves once, with the reason. */
  readonly enough: Promise<Enough>;
  readonly counted: number;
  /** Removes the listener and the timer. */
  stop(): void;
}

/** @param limits - `count` events, or milliseconds. An absent limit does not end the command */
export function untilEnough(
  io: CliIo,
  {
    count,
    timeoutMs,
  }: {
    readonly count?: number | undefined;
    readonly timeoutMs?: number | undefined;
  },
): UntilEnough {
  let counted = 0;
  const { promise: enough, resolve: end } = Promise.withResolvers<Enough>();
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
