import {
  type Clock,
  createBackoff,
  forwardSink,
  type ResourceFeed,
  type ResourceSink,
  XdsError,
} from "@xdstp/core";

import type { Cache, FeedHandle } from "./cache.ts";
import type { Owner } from "./name-record.ts";

/** One feed of a cache. */
export interface FeedSlot extends Owner {
  readonly feed: ResourceFeed;
  /** It has committed at least once. */
  committed: boolean;
  /** It has been sent all subscriptions so far. */
  informed: boolean;
  /** The places that it has what it gives from, if it keeps them apart. */
  readonly parts: FeedSlot[];
}

/** A new part of a slot. */
export function partOf(slot: FeedSlot): FeedSlot {
  const part = { ...slot, parts: [] };
  slot.parts.push(part);
  return part;
}

/** Options of {@link Cache.addFeed}. */
export type FeedOptions = NonNullable<Parameters<Cache["addFeed"]>[1]>;

/** What a cache does for a feed that runs. */
interface FeedHost {
  readonly sink: ResourceSink;
  readonly clock: Clock;
  /** The feed has failed, and is run again after this number of milliseconds. */
  readonly onFailed: (error: XdsError, retryMs: number) => void;
  /** It gives something again. */
  readonly onRecovered: () => void;
  /** The feed has ended; `error` says why, if it failed. */
  readonly onEnded: (error: XdsError | undefined) => void;
}

/** Runs a feed; a failure is reported, never thrown. */
export function runFeed(
  feed: ResourceFeed,
  { restart = false }: FeedOptions,
  host: FeedHost,
): FeedHandle {
  const abort = new AbortController();
  const running =
    restart === false
      ? run(feed, host.sink, abort.signal)
      : runAgain(feed, restart === true ? {} : restart, host, abort.signal);
  const ended = running.then((error) => {
    host.onEnded(error);
    return error;
  });
  const close = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { ended, close, [Symbol.asyncDispose]: close };
}

/** After `close` an error is a result of stopping, and is not reported. */
async function run(
  feed: ResourceFeed,
  sink: ResourceSink,
  signal: AbortSignal,
): Promise<XdsError | undefined> {
  try {
    await feed.run(sink, signal);
    return undefined;
  } catch (error) {
    return signal.aborted ? undefined : XdsError.from(error);
  }
}

/** Until it ends by itself or is closed. */
async function runAgain(
  feed: ResourceFeed,
  { random = Math.random, ...options }: Exclude<FeedOptions["restart"], boolean | undefined>,
  { sink, clock, onFailed, onRecovered }: FeedHost,
  signal: AbortSignal,
): Promise<undefined> {
  const backoff = createBackoff(options, random);
  let hasFailed = false;
  const watched = withCommits(sink, () => {
    backoff.reset();
    if (hasFailed) onRecovered();
    hasFailed = false;
  });
  for (;;) {
    const error = await run(feed, watched, signal);
    if (error === undefined) return undefined;
    hasFailed = true;
    const retryMs = backoff.next();
    onFailed(error, retryMs);
    if (!(await waited(clock, retryMs, signal))) return undefined;
  }
}

/** The same sink, which reports each commit. */
function withCommits(sink: ResourceSink, onCommit: () => void): ResourceSink {
  return forwardSink(sink, (inner) => ({
    commit: (transaction) => {
      const committed = inner.commit(transaction);
      onCommit();
      return committed;
    },
  }));
}

/** False: the signal was aborted before the time was over. */
async function waited(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return await new Promise((resolve) => {
    const timer = clock.after(ms, () => {
      done(true);
    });
    const onAbort = (): void => {
      done(false);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    function done(isOver: boolean): void {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
      resolve(isOver);
    }
  });
}
