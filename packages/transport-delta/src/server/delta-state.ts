import type { Entry, Topic, XdsError } from "@xdstp/core";
import type { ServedType, SmallMap, Gathered as Response } from "@xdstp/protocol/server";

/** A name in `initial_resource_versions`, as it was spelled. */
export interface HeldByClient {
  readonly name: string;
  readonly version: string;
}

/** What a client listed as held, by canonical key; not to be written. */
export type HeldList = ReadonlyMap<string, HeldByClient>;

/** Removals that wait until those who refer to these names have let go (S-ORD-3). */
export interface HeldRemovals {
  readonly entries: readonly Entry[];
  /** The client has a state of these names that is not older than this revision. */
  readonly base: number;
}

/** The part of a state that a cut takes out and only the variant knows. */
export interface BeforeTaken extends Pick<DeltaState, "held" | "initial" | "initialShared"> {
  readonly unanswered: ReadonlyMap<Topic, number>;
}

/** One type on one delta stream. What the client has is one number; everything else is what it is still owed. */
export interface DeltaState extends ServedType<Gathered, BeforeTaken> {
  /** How many of them are globs. */
  globs: number;
  /** Those by alias, by the canonical keys of the names that they were answered under; undefined while there are none. */
  aliased: Map<string, Set<Topic>> | undefined;
  /** The first response was sent (S-RECON-6). */
  answered: boolean;

  /** Topics without a first answer, each with the revision from which removals concern the client; {@link NONE_HELD}: none do. */
  readonly unsettled: SmallMap<Topic, number>;
  /** The same, once they are settled. */
  readonly unanswered: SmallMap<Topic, number>;
  /** Globs whose transient error the client was sent, or is owed; undefined while there are none. */
  openErrors: Map<Topic, XdsError> | undefined;
  /** Incomplete collections whose members are sent while their supply is broken, each with the revision up to which these are sent or owed; undefined while there are none. */
  knownMembers: Map<Topic, number> | undefined;
  /** Removals that wait for those who refer to them, in the order in which they began to wait. */
  held: readonly HeldRemovals[];
  /** What the client listed as held, by canonical key, until everything is answered (S-RECON-4). */
  initial: HeldList | undefined;
  /** It is that of other clients too. */
  initialShared: boolean;
}

/** Nothing was sent before the subscription, so the client holds nothing that could have been removed since. */
export const NONE_HELD = -1;

/** What is pending on a type, taken as of now. */
export interface Gathered extends Response {
  /** The author's label, where one topic contributed and has one: it replaces the content version. */
  readonly label: string | undefined;
  /** Of all that the client has with it: the content version is made of it (S-VER-3). */
  readonly hash: number;
}

/** Copies what a cut takes out of the state. */
export function copyPending({ held, initial, initialShared, unanswered }: DeltaState): BeforeTaken {
  return {
    held,
    initial: initialShared ? initial : initial && new Map(initial),
    initialShared,
    unanswered: new Map(unanswered),
  };
}

/** Puts it back. */
export function putBack(
  state: DeltaState,
  { held, initial, initialShared, unanswered }: BeforeTaken,
): void {
  state.held = held;
  state.initial = initial;
  state.initialShared = initialShared;
  for (const [topic, since] of unanswered) state.unanswered.set(topic, since);
}
