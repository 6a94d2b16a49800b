import type { Entry, ResourceType, Topic, Watcher, XdsError } from "@xdstp/core";
import type {
  Beating,
  ClientQuirks,
  ExchangeOwner,
  FrameProfile,
  Holds,
  Lifetimes,
  SmallMap,
  SmallSet,
  TypeHost,
} from "@xdstp/protocol/server";
import type { HeldList } from "./held-by-client.ts";
import type { CountedHashes } from "./state-version.ts";
import type { Taken } from "./take.ts";

/** One type on one delta stream. What the client has is one number; everything else is what it is still owed. */
export interface DeltaState extends ExchangeOwner {
  readonly host: TypeHost;
  readonly type: ResourceType | undefined;
  /** Its place in the order of sending (S-ORD-1). */
  readonly rank: number;
  readonly quirks: ClientQuirks;
  readonly profile: FrameProfile;
  readonly watcher: Watcher & Beating;

  /** Topics by canonical key; the key of the wildcard is `*`. Those with dynamic parameters have these in their key (`idOf`). */
  readonly topics: SmallMap<string, Topic>;
  /** Those with dynamic parameters, by the key of the name alone; undefined while there are none. */
  located: Map<string, readonly Topic[]> | undefined;
  /** What the version of the state is made of; undefined while there is one topic, or none. */
  counted: CountedHashes | undefined;
  /** How many of them are globs. */
  globs: number;
  /** UTF-16 units of their keys. */
  nameLength: number;
  /** Those by alias, by the canonical keys of the names that they were answered under; undefined while there are none. */
  aliased: Map<string, Set<Topic>> | undefined;
  /** Revision up to which changes of answered topics have been sent. */
  sent: number;
  /** The first response was sent (S-RECON-6). */
  answered: boolean;

  /** Topics without a first answer, each with the revision from which removals concern the client; {@link NONE_HELD}: none do. */
  readonly unsettled: SmallMap<Topic, number>;
  /** The same, once they are settled. */
  readonly unanswered: SmallMap<Topic, number>;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: SmallSet<Topic>;
  /** Globs whose transient error the client was sent, or is owed; undefined while there are none. */
  openErrors: Map<Topic, XdsError> | undefined;
  /** Incomplete collections whose members are sent while their supply is broken, each with the revision up to which these are sent or owed; undefined while there are none. */
  knownMembers: Map<Topic, number> | undefined;
  /** Answered topics with changes. */
  readonly dirty: SmallSet<Topic>;
  /** Names to be sent as they are now. */
  readonly owed: SmallSet<string>;
  /** Removals that wait for those who refer to them. */
  held: readonly Entry[];
  /** What is to be sent later as it was at the revision of a cut (S-ORD-4). */
  taken: Taken | undefined;
  /** Names that refer to what the client has not accepted, each with what it lacks. */
  heldBack: Holds;
  /** What it holds for a time only; undefined while nothing that it was sent has a TTL. */
  lifetimes: Lifetimes | undefined;
  /** What the client listed as held, by canonical key, until everything is answered (S-RECON-4). */
  initial: HeldList | undefined;
  /** It is that of other clients too. */
  initialShared: boolean;
}

/** Nothing was sent before the subscription, so the client holds nothing that could have been removed since. */
export const NONE_HELD = -1;
