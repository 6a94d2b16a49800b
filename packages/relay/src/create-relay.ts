import { systemClock } from "@xdstp/core";
import { bootstrapFacts, createChannels } from "@xdstp/federation";

import { createHub, type Hub } from "./create-hub.ts";
import type { Relay, RelayOptions } from "./relay.ts";
import { createLastWords, type LastWords } from "./status/last-words.ts";
import { createLookUpBook } from "./status/look-ups.ts";
import type { RelayStatus } from "./status/relay-status.ts";
import { statusOf } from "./status/status-of.ts";

/**
 * Makes a relay: `createServer({ source: createRelay({ bootstrap }).source })`. It connects when a client wants something.
 * Throws an XdsError where there is no bootstrap, or a broken one.
 */
export function createRelay({ bootstrap, channels = createChannels(), onEvent, ...options }: RelayOptions = {}): Relay {
  const facts = bootstrapFacts(bootstrap);
  const words = createLastWords(options.clock ?? systemClock);
  const noted: RelayOptions["onEvent"] = (event) => {
    words.note(event);
    onEvent?.(event);
  };
  return relayOf(createHub(facts.node, { ...options, onEvent: noted, facts, channels, revisions: { last: 0 } }), words);
}

function relayOf({ cache, federation, sources, close }: Hub, words: LastWords): Relay {
  const lookUps = createLookUpBook(sources);
  const status = (): RelayStatus => statusOf({ sources, federations: [federation], words, lookUps });
  return { source: lookUps.over(cache), cache, federation, status, close, [Symbol.asyncDispose]: close };
}
