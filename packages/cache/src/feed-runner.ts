import { XdsError, type ResourceFeed, type ResourceSink } from "@xdstp/core";

import type { FeedHandle } from "./feed-handle.ts";
import type { Owner } from "./name-record.ts";

/** One feed of a cache. */
export interface FeedSlot extends Owner {
  readonly feed: ResourceFeed;
  /** It has committed at least once. */
  committed: boolean;
  /** It has been told of all that is wanted so far. */
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

/** What a cache does for a feed that runs. */
export interface FeedHost {
  readonly sink: ResourceSink;
  /** The feed has ended; `error` says why, if it failed. */
  readonly onEnded: (error: XdsError | undefined) => void;
}

/** Runs a feed; a failure is told, never thrown. */
export function runFeed(feed: ResourceFeed, { sink, onEnded }: FeedHost): FeedHandle {
  const abort = new AbortController();
  const ended = run(feed, sink, abort.signal).then((error) => {
    onEnded(error);
    return error;
  });
  const close = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { ended, close, [Symbol.asyncDispose]: close };
}

/** After `close` an error is that of stopping, and tells nobody anything. */
async function run(feed: ResourceFeed, sink: ResourceSink, signal: AbortSignal): Promise<XdsError | undefined> {
  try {
    await feed.run(sink, signal);
    return undefined;
  } catch (error) {
    return signal.aborted ? undefined : XdsError.from(error);
  }
}
