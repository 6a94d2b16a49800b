import type { ClientNotice } from "@xdstp/client";
import { readRequest, type StreamObserver } from "@xdstp/recording";
import type { ForeignNames } from "./ask-client.ts";
import { streamFailure, type Spoken } from "./ask-failure.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Reports what happens on the streams of a client: whether servers answer, what of it is ignored, and which NACKs are sent. */
export interface StreamFollower {
  /** For the events of the client. */
  readonly onEvent: (event: ClientNotice, spoken: Spoken) => void;
  /** For names that are ignored. */
  readonly onForeign: (event: ForeignNames) => void;
  /** For its streams: a rejection is reported when it is on the wire. */
  readonly observe: (server: string, variant: Spoken["variant"]) => StreamObserver;
}

/** Follows the streams of one client. */
export function followStreams(tell: (event: WatchEvent) => void): StreamFollower {
  const answering = new Set<string>();
  const rejected = new Map<string, readonly string[]>();
  /** The hash of the ignored names in the last response, by type and SotW server. */
  const ignored = new Map<string, number>();
  const answers = (server: string): void => {
    if (answering.has(server)) return;
    answering.add(server);
    tell({ kind: "connected", server });
  };
  return {
    onEvent(event, spoken) {
      const { server } = event;
      if (event.kind === "accepted" || event.kind === "rejected") answers(server);
      if (event.kind === "rejected")
        rejected.set(
          event.nonce,
          event.names.map(({ name }) => name),
        );
      if (event.kind !== "closed") return;
      answering.delete(server);
      tell({
        kind: "disconnected",
        server,
        reason: streamFailure(server, event.status, spoken),
        retryMs: event.retryMs,
      });
    },
    onForeign({ server, typeUrl, names, namesHash, variant }) {
      const key = `${typeUrl} ${server}`;
      // A SotW server repeats the same names with each response.
      if (variant === "sotw" && ignored.get(key) === namesHash) return;
      if (variant === "sotw") ignored.set(key, namesHash);
      tell({ kind: "ignored", server, typeUrl, names });
    },
    observe: (_, variant) => ({
      received: () => undefined,
      closed: () => undefined,
      sent(message) {
        const { nonce, error } = readRequest(variant, message);
        if (error !== undefined)
          tell({ kind: "rejected", names: rejected.get(nonce) ?? [], nonce, reason: error });
        rejected.delete(nonce);
      },
    }),
  };
}
