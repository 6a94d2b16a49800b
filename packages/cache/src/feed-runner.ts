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
  /** True if it has committed at least once. */
  committed: boolean;
  /** True if it has been sent all subscriptions so far. */
  informed: boolean;
  /** The sinks for its places, if it uses parts. */
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

/** The cache, as a running feed uses it. */
interface FeedHost {
  readonly sink: ResourceSink;
  readonly clock: Clock;
  /** Called when the feed has failed and will run again after this number of milliseconds. */
  readonly onFailed: (error: XdsError, retryMs: number) => void;
  /** Called when the feed commits again after a failure. */
  readonly onRecovered: () => void;
  /** Called when the feed has ended. `error`: why it failed. */
  readonly onEnded: (error: XdsError | undefined) => void;
}

/** Runs a feed. A failure is reported, never thrown. */
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

/** Runs the feed once. An error after `close` is a result of stopping, and is not returned. */
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

/** Runs the feed again after each failure, until it ends by itself or is closed. */
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

/** Returns a sink that also reports each commit. */
function withCommits(sink: ResourceSink, onCommit: () => void): ResourceSink {
  return forwardSink(sink, (inner) => ({
    commit: (transaction) => {
      const committed = inner.commit(transaction);
      onCommit();
      return committed;
    },
  }));
}

/** Waits. Returns false if the signal was aborted before the time was over. */
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
