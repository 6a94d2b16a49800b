import { createCache, type Cache } from "@xdstp/cache";
import { systemClock } from "@xdstp/core";
import { bootstrapFacts, createChannels, createFederation, encodeNode, type Federation, type FederationSource } from "@xdstp/federation";
import { envoyTypes } from "@xdstp/resource-types";

import type { Relay, RelayOptions } from "./relay.ts";

/**
 * Makes a relay: `createServer({ source: createRelay({ bootstrap }).source })`. It connects when a client wants something.
 * Throws an XdsError where there is no bootstrap, or a broken one.
 */
export function createRelay(options: RelayOptions = {}): Relay {
  const { types = envoyTypes, clock = systemClock, lingerMs = 60_000, follow = false, onEvent } = options;
  const federation = createFederation({ sources: upstreams(options), follow, clock, ...(options.random !== undefined && { random: options.random }), ...(onEvent !== undefined && { onEvent }) });
  const cache = createCache({ types, clock, lingerMs, wildcard: (_, name) => federation.inWildcard(name), ...(onEvent !== undefined && { onEvent }) });
  cache.addFeed(federation);
  return relayOf(cache, federation);
}

function relayOf(cache: Cache, federation: Federation): Relay {
  const close = async (): Promise<void> => cache.close();
  return { source: cache, cache, federation, close, [Symbol.asyncDispose]: close };
}

/** A removal upstream is one downstream (B-RELAY-13): what stays beside an error is the choice of each client. */
function upstreams({ bootstrap, types = envoyTypes, variant = "delta", channels = createChannels(), clock = systemClock, backoff, limits, fetchMs, random, onEvent, ...node }: RelayOptions): readonly FederationSource[] {
  const facts = bootstrapFacts(bootstrap);
  return facts.sources({
    variant, channels, clock, keepRemoved: false, node: encodeNode(facts.node, node), types: new Map(types.map((type) => [type.typeUrl, type])),
    ...(backoff !== undefined && { backoff }), ...(limits !== undefined && { limits }), ...(fetchMs !== undefined && { fetchMs }), ...(random !== undefined && { random }), ...(onEvent !== undefined && { onEvent }),
  });
}
