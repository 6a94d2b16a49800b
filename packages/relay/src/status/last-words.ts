import type { Clock } from "@xdstp/core";
import type { ClientNotice } from "@xdstp/federation";

import type { RelayEvent } from "../relay-event.ts";

/** When a server was heard last. Times are milliseconds since the epoch. */
export interface LastWord {
  readonly lastWordAt?: number;
  readonly staleSince?: number;
}

/** Notes when servers say something, and when they cease to. */
export interface LastWords {
  note(event: RelayEvent | ClientNotice): void;
  /** By the URI of a server. */
  of(server: string): LastWord;
}

/** An empty book. Servers are those of the configuration, so it does not grow. */
export function createLastWords(clock: Clock): LastWords {
  const words = new Map<string, LastWord>();
  return {
    note(event) {
      if (!("server" in event)) return;
      const { server, kind } = event;
      const { lastWordAt, staleSince = clock.wallTime() } = words.get(server) ?? {};
      if (kind === "accepted" || kind === "rejected")
        words.set(server, { lastWordAt: clock.wallTime() });
      else if (kind === "closed")
        words.set(server, { ...(lastWordAt !== undefined && { lastWordAt }), staleSince });
      else if (kind === "idle")
        words.set(server, { ...(lastWordAt !== undefined && { lastWordAt }) });
    },
    of: (server) => words.get(server) ?? {},
  };
}
