import type { Entry, Reference } from "@xdstp/core";

/**
 * Why a name waits. `unaccepted`: the client has not accepted what it refers to; this wait has a limit. `rejected`: the client has rejected that and never had it; this wait ends with the correction.
 * `released`: the limit has passed, or what it refers to is there: it goes with the next response. `removed`: the name was removed, and the client has its old state until it is sent the removal.
 */
export type HoldPhase = "unaccepted" | "rejected" | "released" | "removed";

/** A name that is not sent yet, since the client does not have what it refers to (S-ORD-4). */
export interface Hold {
  /** Why it waits. */
  readonly phase: HoldPhase;
  /** The name that the client does not have. */
  readonly lacking: Reference;
  /** Its state when the wait began. It goes before a newer state that has to wait as well, so changes do not delay it for ever. */
  readonly entry: Entry;
  /** Revision from which the client has missed it. */
  readonly from: number;
  /** When the wait began, by `Clock.now()`. */
  readonly since: number;
  /** Revision of the source at which that state was read. */
  readonly at: number;
  /** Removals of what the client has until this name goes: variants that it takes the place of (S-DYN-5). undefined: none. */
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
  /** The type URL of that. */
  readonly forType: string;
  /** When the wait began, in milliseconds since the epoch. */
  readonly since: number;
}
