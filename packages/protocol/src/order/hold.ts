import type { Entry, Reference } from "@xdstp/core";

/**
 * Why a name waits.
 *
 * - `unaccepted`: the client has not accepted a name that it refers to. This wait has a time limit.
 * - `rejected`: the client has rejected that name and never had it. This wait ends with the
 * correction.
 * - `released`: the time limit has passed, or the client has that name. The name is sent with the
 * next response.
 * - `removed`: the name was removed, and the client keeps its old state until it is sent the
 * removal.
 */
export type HoldPhase = "unaccepted" | "rejected" | "released" | "removed";

/**
 * A name that is not sent yet, since the client does not have a name that it refers to (S-ORD-4).
 */
export interface Hold {
  /** Why it waits. */
  readonly phase: HoldPhase;
  /** The name that the client does not have. */
  readonly lacking: Reference;
  /**
   * Its state when the wait began. It can be sent before a newer state that has to wait as well, so
   * that changes do not delay the name for ever.
   */
  readonly entry: Entry;
  /** The revision after which the client has missed it. */
  readonly from: number;
  /** When the wait began, by `Clock.now()`. */
  readonly since: number;
  /** The revision of the source at which that state was read. */
  readonly at: number;
  /**
   * Removals of variants that this name replaces: the client has these variants until the name is
   * sent (S-DYN-5). undefined: none.
   */
  readonly replaced: readonly Entry[] | undefined;
}

/** The names that wait, by canonical key. */
export type Holds = ReadonlyMap<string, Hold>;

/** No name waits. */
export const NO_HOLDS: Holds = new Map();

/** A name that waits, and what it waits for. */
export interface HeldBackName {
  /** The name that waits. */
  readonly name: string;
  /** The name that the client has rejected or does not have yet. */
  readonly for: string;
  /** The type URL of that name. */
  readonly forType: string;
  /** When the wait began, in milliseconds since the epoch. */
  readonly since: number;
}
