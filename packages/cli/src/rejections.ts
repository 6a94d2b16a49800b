import type { ClientNotice } from "@xdstp/client";
import { readRequest, type StreamObserver } from "@xdstp/recording";
import { errorText, withRule } from "./cli-error.ts";

/** One resource that was rejected. */
export interface SeenRejection {
  /** Of a response that was rejected whole: its nonce. */
  readonly name: string;
  readonly reason: string;
}

/** A rejection of a client, as sent to its server, with the version that the client still uses. */
export interface Rejections {
  /** For the events of the client. */
  readonly event: (event: ClientNotice) => void;
  /** For its streams. */
  readonly observe: (server: string, variant: "delta" | "sotw") => StreamObserver;
  seen(): readonly SeenRejection[];
  /** The nonce of the response that was rejected last; empty: none. */
  nonce(): string;
  /** The version of the newest response that was accepted or rejected; empty: none. */
  version(): string;
  /** Resolves when the first NACK is on the wire. */
  readonly answered: Promise<void>;
}

/** Follows one client. */
export function createRejections(): Rejections {
  const seen: SeenRejection[] = [];
  let nonce = "";
  let version = "";
  const { promise: answered, resolve: told }: PromiseWithResolvers<void> = Promise.withResolvers();
  return {
    answered,
    event(event) {
      if (event.kind === "accepted" || event.kind === "rejected") version = event.version;
      if (event.kind !== "rejected") return;
      const { names, reason, rule } = event;
      seen.push(
        ...(names.length === 0
          ? [{ name: `response ${event.nonce}`, reason: withRule(reason, rule) }]
          : names.map(({ name, error }) => ({ name, reason: errorText(error) }))),
      );
    },
    observe: (_, variant) => ({
      received: () => undefined,
      closed: () => undefined,
      sent(message) {
        const request = readRequest(variant, message);
        if (request.error === undefined) return;
        nonce = request.nonce;
        told();
      },
    }),
    seen: () => seen,
    nonce: () => nonce,
    version: () => version,
  };
}
