import { XdsError } from "@xdstp/core";
import type { FollowedState } from "@xdstp/transport-http/client";

import type { StoredResource } from "./state-store.ts";

/**
 * The state of a watched resource.
 *
 * ```
 * waiting ◄──► stored ──► current ◄──► missing
 *    └────────────────────►┘
 * ```
 *
 * Each phase has a `value`: the default of the watch is used instead of a resource that is not
 * known, or is missing. `stored` ends at `waiting` when the TTL of the stored state expires.
 */
export type WatchState<T, D> =
  /** Nothing is known yet. `error`: the reason why requests fail at present. */
  | { readonly phase: "waiting"; readonly value: D; readonly error: XdsError | undefined }
  /**
   * The last state of an earlier client with this store. `error`: the reason why requests fail at
   * present, or why the state of the server was rejected.
   */
  | {
      readonly phase: "stored";
      readonly value: T;
      readonly version: string;
      /**
       * Milliseconds since the Unix epoch at which the server sent it or last confirmed it. The time
       * of a confirmation is stored once a minute at most.
       */
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
  readonly read: (body: Uint8Array) => Content<T>;
}

/** Returns the state after `before`. A state that is rejected changes nothing but `error`. */
export function nextState<T, D>(
  before: WatchState<T, D>,
  { followed, stored, fallback, read }: Facts<T, D>,
): WatchState<T, D> {
  if (followed.kind === "missing")
    return { phase: "missing", value: fallback, error: followed.error };
  let { error } = followed;
  if (followed.kind === "found") {
    const content = read(followed.body);
    if (content.kind === "accepted")
      return { phase: "current", value: content.value, version: followed.version, error };
    ({ error } = content);
    if (before.phase === "current" || before.phase === "missing") return { ...before, error };
  }
  const waiting = { phase: "waiting", value: fallback, error } as const;
  if (stored === undefined) return waiting;
  const content = read(stored.body);
  const { version, savedAt } = stored;
  return content.kind === "accepted"
    ? { phase: "stored", value: content.value, version, savedAt, error }
    : waiting;
}

/** Returns the reason of a rejection, about a resource. */
export function rejection(label: string, reason: unknown): XdsError {
  const { text, context } = XdsError.from(reason);
  return new XdsError("INVALID_ARGUMENT", `${label} is rejected: ${text}`, {
    ...context,
    reason: "rejected",
  });
}
