import type { Cache, CacheOptions, FeedHandle } from "@xdstp/cache";
import {
  type Clock,
  forwardSource,
  type ResourceFeed,
  type ResourceSink,
  type ResourceSource,
  systemClock,
  XdsError,
} from "@xdstp/core";
import type { StreamEvent } from "@xdstp/protocol/server";

import { TrialGroups } from "./trial-groups.ts";
import { stageSink } from "./stage-sink.ts";
import { Trials } from "./trials.ts";

/**
 * A cache in two stages: the state that all clients see, and the state that some clients see before
 * it is decided.
 */
export interface Quorum {
  /**
   * The source for clients without a vote. {@link readerView} turns it into the source of a client
   * with a vote.
   */
  readonly source: ResourceSource;
  /** Runs a feed for both stages; it is sent subscriptions once. */
  addFeed(feed: ResourceFeed): FeedHandle;
  /** Handles an event of the streams of the server. */
  observe(event: StreamEvent): void;
  /** Ends the votes, and closes both caches. */
  close(): Promise<void>;
}

/** Options of a quorum: some clients receive changes first, and their answers decide whether all clients receive them (B-RELAY-5). */
export interface QuorumOptions {
  /** The number of distinct clients of each interest that receive a new version first. The same number of acceptances is enough. Default: 3. */
  readonly clients?: number;
  /**
   * Milliseconds after which a missing answer counts as acceptance. The answer to the upstream
   * server waits at most as long. Default: 10,000.
   */
  readonly waitMs?: number;
}

/**
 * Creates a quorum from two caches; the events of streams are its votes (`observe`). Throws an
 * XdsError, INVALID_ARGUMENT, for invalid numbers.
 */
export function createQuorum({
  accepted,
  ahead,
  revisions,
  clock = systemClock,
  clients = 3,
  waitMs = 10_000,
}: QuorumOptions & {
  /** The state that all clients see. */
  readonly accepted: Cache;
  /** A cache with the same options. It has the accepted state, and changes on trial. */
  readonly ahead: Cache;
  /** The revision counter of both caches. */
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
  /** The clock of all timers. Default: the clock of the machine. */
  readonly clock?: Clock;
}): Quorum {
  checkQuorum(clients, waitMs);
  const groups = new TrialGroups({ accepted, ahead, revisions }, clients);
  const trials = new Trials({ clock, clients, waitMs });
  const wasRemoved = (typeUrl: string, name: string): boolean =>
    accepted.topic(typeUrl, { name }).removed().length > 0;
  const host = { groups, trials, held: { accepted, ahead }, wasRemoved };
  return {
    source: sourceOf(accepted, revisions, groups),
    addFeed: (feed) => addFeed(feed, { accepted, ahead }, (sinks) => stageSink(sinks, host)),
    observe: (event) => {
      trials.observe(event);
    },
    async close() {
      trials.close();
      await Promise.all([accepted.close(), ahead.close()]);
    },
  };
}

function checkQuorum(clients: number, waitMs: number): void {
  if (!(Number.isSafeInteger(clients) && clients > 0))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `quorum.clients is ${clients}; give a whole number from 1 on`,
    );
  if (!(waitMs > 0 && Number.isFinite(waitMs)))
    throw new XdsError("INVALID_ARGUMENT", `quorum.waitMs is ${waitMs}; give milliseconds above 0`);
}

function sourceOf(
  accepted: ResourceSource,
  revisions: NonNullable<CacheOptions["revisions"]>,
  groups: TrialGroups,
): ResourceSource {
  const noReader = { client: undefined };
  return forwardSource(accepted, {
    get revision() {
      return revisions.last;
    },
    topic: (typeUrl, interest) => groups.topic(typeUrl, interest, noReader),
  });
}

/**
 * Runs a feed for both caches. The cache ahead is given everything and subscribes to nothing
 * itself: every reader watches both caches.
 */
function addFeed(
  feed: ResourceFeed,
  { accepted, ahead }: { readonly accepted: Cache; readonly ahead: Cache },
  join: (sinks: { readonly accepted: ResourceSink; readonly ahead: ResourceSink }) => ResourceSink,
): FeedHandle {
  let sink: ResourceSink | undefined;
  const behind = ahead.addFeed({
    ...(feed.want !== undefined && { want: () => undefined }),
    run(given, signal) {
      sink = given;
      return new Promise((resolve) => {
        signal.addEventListener(
          "abort",
          () => {
            resolve();
          },
          { once: true },
        );
      });
    },
  });
  const running = accepted.addFeed({
    ...(feed.want !== undefined && {
      want: (...updates: Parameters<NonNullable<ResourceFeed["want"]>>) => feed.want?.(...updates),
    }),
    run: async (given, signal) =>
      feed.run(sink === undefined ? given : join({ accepted: given, ahead: sink }), signal),
  });
  const close = async (): Promise<void> => {
    await Promise.all([running.close(), behind.close()]);
  };
  return { ended: running.ended, close, [Symbol.asyncDispose]: close };
}
