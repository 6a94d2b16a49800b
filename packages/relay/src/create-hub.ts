import { encodeNode, type BootstrapNode, type Channels } from "@xdstp/bootstrap";
import { createCache, type Cache, type CacheOptions, type FeedHandle } from "@xdstp/cache";
import {
  type Clock,
  type ResourceFeed,
  type ResourceSnapshot,
  type ResourceSource,
  systemClock,
} from "@xdstp/core";
import type { StreamEvent } from "@xdstp/protocol/server";
import {
  createFederation,
  type BootstrapFacts,
  type Federation,
  type FederationSource,
} from "@xdstp/federation";
import { envoyTypes } from "@xdstp/resource-types";
import { createQuorum, type Quorum } from "@xdstp/rollout";

import { limitServers } from "./limit-servers.ts";
import { nameLimits } from "./name-room.ts";
import { createAskAgain } from "./no-store/ask-again.ts";
import type { RelayOptions } from "./relay.ts";
import { tellErrors } from "./tell-errors.ts";

/** The options that all hubs of a relay share. */
export interface HubOptions extends Omit<RelayOptions, "bootstrap" | "snapshot"> {
  /** The servers upstream, and the node of the relay. */
  readonly facts: BootstrapFacts;
  /** The connections, so that there is one to each server. */
  readonly channels: Channels;
  /** One counter for all hubs, so that a stream may follow topics of several hubs. */
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
  /** True if the hub has opaque names. If false, `*` covers nothing in it. */
  readonly opaque: boolean;
  /** Absent: nothing is stored on disk. */
  readonly snapshot?: ResourceSnapshot | undefined;
  /** The tenant in the snapshot. Default: shared by all clients. */
  readonly space?: string;
}

/**
 * A cache over a federation that subscribes as one node: the shared hub of a relay, or the hub of a
 * tenant.
 */
export interface Hub {
  /** The resources that all clients see. */
  readonly cache: Cache;
  /** The source that is served. With a quorum, some clients see newer resources in it. */
  readonly source: ResourceSource;
  readonly federation: Federation;
  /** The sources of the federation. */
  readonly sources: readonly FederationSource[];
  /** Adds a feed to the cache. */
  addFeed(feed: ResourceFeed): FeedHandle;
  /** Receives the answers of clients. */
  observe(event: StreamEvent): void;
  /** Begins to subscribe upstream. @param over - Wraps the feed from upstream */
  start(over?: (feed: ResourceFeed) => ResourceFeed): void;
  /** Ends the streams upstream. The contents can still be read. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a hub that subscribes as this node (B-RELAY-4) once it is started. It connects with the
 * first subscription.
 */
export function createHub(node: BootstrapNode, options: HubOptions): Hub {
  const {
    types = envoyTypes,
    clock = systemClock,
    lingerMs = 60_000,
    revisions,
    opaque,
    quorum,
    onEvent,
  } = options;
  const sources = upstreams(node, options, clock);
  const federation = federationOf(sources, options, clock);
  const inWildcard = (name: string): boolean => opaque && federation.inWildcard(name);
  const cacheOptions = {
    types,
    clock,
    lingerMs,
    revisions,
    wildcard: (_: string, name: string) => inWildcard(name),
  };
  const cache = createCache({ ...cacheOptions, ...(onEvent !== undefined && { onEvent }) });
  const stages =
    quorum === undefined
      ? oneStage(cache)
      : createQuorum({
          ...quorum,
          accepted: cache,
          ahead: createCache(cacheOptions),
          revisions,
          clock,
        });
  const askAgain = createAskAgain();
  const start: Hub["start"] = (over = (feed) => feed) => {
    stages.addFeed(over(askAgain.overFeed(feedOf(federation, inWildcard, options))));
  };
  return {
    cache,
    federation,
    sources,
    ...stages,
    source: askAgain.overSource(stages.source),
    start,
  };
}

/** Returns one stage for all clients: no client sees a change first. */
function oneStage(cache: Cache): Quorum {
  return {
    source: cache,
    addFeed: (feed) => cache.addFeed(feed),
    observe: () => undefined,
    close: () => cache.close(),
  };
}

/**
 * Returns the feed between upstream and the cache. The snapshot is the inner wrapper, so restored
 * resources count as cached.
 */
function feedOf(
  federation: Federation,
  inWildcard: (name: string) => boolean,
  { types = envoyTypes, snapshot, space }: HubOptions,
): ResourceFeed {
  const kept =
    snapshot === undefined
      ? federation
      : snapshot.keep(federation, { inWildcard, ...(space !== undefined && { space }) });
  return tellErrors(kept, types);
}

function federationOf(
  sources: readonly FederationSource[],
  options: HubOptions,
  clock: Clock,
): Federation {
  const { follow = false, random, onEvent } = options;
  return createFederation({
    sources,
    follow,
    clock,
    ...(random !== undefined && { random }),
    ...(onEvent !== undefined && { onEvent }),
  });
}

/**
 * Returns the sources. A removal upstream is a removal downstream (B-RELAY-13): each client decides
 * whether it keeps the resource next to an error.
 */
function upstreams(
  node: BootstrapNode,
  options: HubOptions,
  clock: Clock,
): readonly FederationSource[] {
  const {
    facts,
    channels,
    types = envoyTypes,
    variant = "delta",
    backoff,
    limits,
    fetchMs,
    random,
    onEvent,
    features,
    userAgent,
    upstreamNames,
  } = options;
  const sources = facts.sources({
    variant,
    channels,
    clock,
    keepRemoved: false,
    types: new Map(types.map((type) => [type.typeUrl, type])),
    node: encodeNode(node, {
      ...(features !== undefined && { features }),
      ...(userAgent !== undefined && { userAgent }),
    }),
    ...(backoff !== undefined && { backoff }),
    ...(limits !== undefined && { limits }),
    ...(fetchMs !== undefined && { fetchMs }),
    ...(random !== undefined && { random }),
    ...(onEvent !== undefined && { onEvent }),
  });
  return limitServers(sources, {
    limits: nameLimits(upstreamNames, types),
    clock,
    onFull: (event) => {
      onEvent?.(event);
    },
  });
}
