import type { Entry, Topic, XdsError } from "@xdstp/core";
import type { ServedType, SmallMap, Gathered as Response } from "@xdstp/protocol/server";

/** A name in `initial_resource_versions`, as it was spelled. */
export interface HeldByClient {
  readonly name: string;
  readonly version: string;
}

/**
 * The names and versions that a client has listed, by canonical key. Must not be changed, since
 * clients may share it.
 */
export type HeldList = ReadonlyMap<string, HeldByClient>;

/** Removals that wait until no resource refers to their names (S-ORD-3). */
export interface HeldRemovals {
  readonly entries: readonly Entry[];
  /** The client has a state of these names that is not older than this revision. */
  readonly base: number;
}

/** The state of the variant that a cut changes. */
export interface BeforeTaken extends Pick<DeltaState, "held" | "initial" | "initialShared"> {
  readonly unanswered: ReadonlyMap<Topic, number>;
}

/**
 * The state of one type on one delta stream. What the client has is one number; everything else is
 * what it is still to be sent.
 */
export interface DeltaState extends ServedType<Gathered, BeforeTaken> {
  /** The number of subscriptions that are globs. */
  globs: number;
  /**
   * Subscriptions by alias, by the canonical keys of the real names under which they were answered.
   * undefined: there are none.
   */
  aliased: Map<string, Set<Topic>> | undefined;
  /** True if the first response was sent (S-RECON-6). */
  answered: boolean;

  /**
   * Topics without a first answer that are not settled. The value is the revision after which
   * removals have to be sent to the client; {@link NONE_HELD}: none have to.
   */
  readonly unsettled: SmallMap<Topic, number>;
  /** Topics without a first answer that are settled, with the same revision. */
  readonly unanswered: SmallMap<Topic, number>;
  /**
   * Globs whose transient error the client was sent, or is to be sent. undefined: there are none.
   */
  openErrors: Map<Topic, XdsError> | undefined;
  /**
   * Incomplete collections whose members are sent while their supply is broken, each with the
   * revision up to which they were sent or are to be sent. undefined: there are none.
   */
  knownMembers: Map<Topic, number> | undefined;
  /**
   * Removals that wait until no resource refers to their names, in the order in which they began to
   * wait.
   */
  held: readonly HeldRemovals[];
  /**
   * The names that the client listed, by canonical key, until everything is answered (S-RECON-4).
   */
  initial: HeldList | undefined;
  /** True if other clients share that list. */
  initialShared: boolean;
}

/**
 * Nothing was sent before the subscription, so the client has nothing that could have been removed
 * since.
 */
export const NONE_HELD = -1;

/** A response with everything that is pending on a type. */
export interface Gathered extends Response {
  /**
   * The author's label, which replaces the content version; present if only one topic contributed
   * and it has one.
   */
  readonly label: string | undefined;
  /**
   * The sum of the hashes of everything that the client has with it, from which the content version
   * is made (S-VER-3).
   */
  readonly hash: number;
}

/** Copies the state that a cut changes. */
export function copyPending({ held, initial, initialShared, unanswered }: DeltaState): BeforeTaken {
  return {
    held,
    initial: initialShared ? initial : initial && new Map(initial),
    initialShared,
    unanswered: new Map(unanswered),
  };
}

/** Puts that state back. */
export function putBack(
  state: DeltaState,
  { held, initial, initialShared, unanswered }: BeforeTaken,
): void {
  state.held = held;
  state.initial = initial;
  state.initialShared = initialShared;
  for (const [topic, since] of unanswered) state.unanswered.set(topic, since);
}
