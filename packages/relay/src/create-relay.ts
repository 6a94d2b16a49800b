import { bootstrapFacts, createChannels } from "@xdstp/federation";

import { createHub, type Hub } from "./create-hub.ts";
import type { Relay, RelayOptions } from "./relay.ts";

/**
 * Makes a relay: `createServer({ source: createRelay({ bootstrap }).source })`. It connects when a client wants something.
 * Throws an XdsError where there is no bootstrap, or a broken one.
 */
export function createRelay({ bootstrap, channels = createChannels(), ...options }: RelayOptions = {}): Relay {
  const facts = bootstrapFacts(bootstrap);
  return relayOf(createHub(facts.node, { ...options, facts, channels, revisions: { last: 0 } }));
}

function relayOf({ cache, federation, close }: Hub): Relay {
  return { source: cache, cache, federation, close, [Symbol.asyncDispose]: close };
}
