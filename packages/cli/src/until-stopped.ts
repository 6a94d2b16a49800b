import type { CliIo, StopSignal } from "./cli-io.ts";
import type { ServeEvent } from "./cli-event.ts";

/** What {@link untilStopped} needs. */
interface UntilStoppedOptions {
  readonly io: CliIo;
  /** Settles if what is served is followed no more; undefined: that was on purpose. */
  readonly failed: Promise<unknown>;
  /** Ends everything in order. */
  readonly close: () => Promise<void>;
  /** How many streams are open. */
  readonly streams: () => number;
  readonly say: (event: ServeEvent) => void;
}

/** Waits for a wish to stop, then closes in order; a second wish does not wait for that. The answer is the exit code. */
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

/** One request to stop at a time; those that come before the caller waits are kept. A log without a reader is a request to stop only at a terminal. A closed terminal sends a signal and accepts no more text: that is one request, not two. */
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

/** Why something that runs on has ended. */
type Enough = "count" | "time" | "signal" | "broken-pipe";

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
