import type { ClientNotice } from "@xdstp/client";
import { readRequest, type StreamObserver } from "@xdstp/recording";
import { errorText, withRule } from "./cli-error.ts";

/** One resource that this client has rejected. */
export interface SeenRejection {
  /** The name of the resource. If the response was rejected as a whole, `response` and its nonce. */
  readonly name: string;
  readonly reason: string;
}

/** The rejections of a client, collected from its events and streams. */
export interface Rejections {
  /** Receives the events of the client. */
  readonly event: (event: ClientNotice) => void;
  /** Creates the observer of each stream of the client. */
  readonly observe: (server: string, variant: "delta" | "sotw") => StreamObserver;
  seen(): readonly SeenRejection[];
  /** Returns the nonce of the response that was rejected last. Empty: none was. */
  nonce(): string;
  /** Returns the version of the newest response that was accepted or rejected. Empty: none was. */
  version(): string;
  /** Resolves when the first NACK has been sent. */
  readonly answered: Promise<void>;
}

/** Collects the rejections of one client. */
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
