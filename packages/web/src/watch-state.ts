import { XdsError } from "@xdstp/core";
import type { FollowedState } from "@xdstp/transport-http/client";

import type { StoredResource } from "./state-store.ts";

/**
 * The state of a watched resource.
 *
 * ```
 * waiting ──► stored ──► current ◄──► missing
 *    └───────────────────►┘
 * ```
 *
 * `value` is there in each phase: the default of the watch stands for a resource that is not known.
 */
export type WatchState<T, D> =
  /** Nothing is known yet. `error`: the reason why requests fail at present. */
  | { readonly phase: "waiting"; readonly value: D; readonly error: XdsError | undefined }
  /** The state that an earlier client of this store has had; the server was not reached yet. */
  | {
      readonly phase: "stored";
      readonly value: T;
      readonly version: string;
      /** Milliseconds since the Unix epoch at which it came from the server. */
      readonly savedAt: number;
      readonly error: XdsError | undefined;
    }
  /**
   * The state of the server. `error`: the reason why it may be out of date, or why a newer one was
   * rejected.
   */
  | {
      readonly phase: "current";
      readonly value: T;
      readonly version: string;
      readonly error: XdsError | undefined;
    }
  /** The server does not have the resource, or its TTL has expired. */
  | { readonly phase: "missing"; readonly value: D; readonly error: XdsError };

/** The content of one body. */
export type Content<T> =
  | { readonly kind: "accepted"; readonly value: T }
  | { readonly kind: "rejected"; readonly error: XdsError };

/** The facts from which a state is made. */
export interface Facts<T, D> {
  readonly followed: FollowedState;
  /** undefined: there is none, or it is not loaded yet. */
  readonly stored: StoredResource | undefined;
  readonly fallback: D;
  /** Reads a body. The same body gives the same result. */
  readonly read: (body: Uint8Array, version: string) => Content<T>;
}

/** Returns the state after `before`. A state that is rejected changes nothing but `error`. */
export function nextState<T, D>(
  before: WatchState<T, D>,
  { followed, stored, fallback, read }: Facts<T, D>,
): WatchState<T, D> {
  if (followed.kind === "missing")
    return { phase: "missing", value: fallback, error: followed.error };
  if (followed.kind === "found") {
    const content = read(followed.body, followed.version);
    const { version, error } = followed;
    return content.kind === "accepted"
      ? { phase: "current", value: content.value, version, error }
      : withError(before, content.error);
  }
  const { error } = followed;
  if (stored === undefined) return { phase: "waiting", value: fallback, error };
  const content = read(stored.body, stored.version);
  const { version, savedAt } = stored;
  return content.kind === "accepted"
    ? { phase: "stored", value: content.value, version, savedAt, error }
    : { phase: "waiting", value: fallback, error };
}

function withError<T, D>(state: WatchState<T, D>, error: XdsError): WatchState<T, D> {
  return { ...state, error };
}

/** Returns the reason of a rejection, about the resource of a URL. */
export function rejection(url: string, reason: unknown): XdsError {
  const { text, context } = XdsError.from(reason);
  return new XdsError("INVALID_ARGUMENT", `${url} is rejected: ${text}`, {
    ...context,
    reason: "rejected",
  });
}
