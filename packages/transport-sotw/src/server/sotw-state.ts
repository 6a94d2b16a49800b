import type { Entry, ResourceType, Timer, Topic, Watcher } from "@xdstp/core";
import type {
  Beating,
  ClientQuirks,
  ExchangeOwner,
  FrameProfile,
  Holds,
  Lifetimes,
  Rejected,
  SmallMap,
  SmallSet,
  TypeHost,
} from "@xdstp/protocol/server";
import type { Gathered } from "./gathered.ts";

/** One name of the wanted set. */
export interface Subscription {
  readonly topic: Topic;
  /** Its share of {@link SotwState.sum}: what was sent of it last. */
  hash: number;
}

/** A removed name that is shown until those who refer to it have let go (S-ORD-3). */
export interface Gone {
  /** Revision at which the removal was seen. */
  readonly revision: number;
  /** The client has a state of it that is not older than this revision. */
  readonly base: number;
}

/** What is to be sent later as it was at the revision of a cut, and the state from which it was taken. */
export interface Taken {
  readonly gathered: Gathered;
  readonly before: BeforeTaken;
  /** All that the client holds once it has it; undefined where nothing of it has a TTL. */
  readonly holding: readonly Entry[] | undefined;
}

/** What of a state a cut takes out of it. */
export interface BeforeTaken extends Pick<SotwState, "sent" | "gone"> {
  readonly dirty: readonly Topic[];
  readonly unanswered: readonly Topic[];
  readonly owed: readonly string[];
  readonly rejected: Rejected | undefined;
}

/** One type on one SotW stream. */
export interface SotwState extends ExchangeOwner {
  readonly host: TypeHost;
  readonly type: ResourceType | undefined;
  /** Its place in the order of sending (S-ORD-1). */
  readonly rank: number;
  readonly quirks: ClientQuirks;
  readonly watcher: Watcher & Beating;
  /** Wrapped or not; may change with the first request that uses locators. */
  profile: FrameProfile;

  /** The wanted set by canonical key; the key of the wildcard is `*`. */
  readonly subscriptions: SmallMap<string, Subscription>;
  /** Those with dynamic parameters, which have these in their key (`idOf`), by the key of the name alone; undefined while there are none. */
  located: Map<string, readonly Subscription[]> | undefined;
  /** All lists so far were empty, so an empty one means `*` (S-WILD-2). */
  legacy: boolean;
  /** Hash of the bytes of the newest list, by which a plain ACK is known; undefined: the wanted set is not that of a list. */
  listHash: number | undefined;
  /** Hash of the newest wanted set, dynamic parameters included. */
  wantedHash: number | undefined;
  /** Revision up to which changes have been sent. */
  sent: number;
  /** The client has come with a version, and there was no response yet. */
  returning: boolean;
  /** The first response was sent, or is not needed (S-RECON-7). */
  answered: boolean;

  /** Topics that are new in the list and get everything, before they are settled. */
  readonly unsettled: SmallSet<Topic>;
  /** The same, once they are settled. */
  readonly unanswered: SmallSet<Topic>;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: SmallSet<Topic>;
  /** Answered topics with changes. */
  readonly dirty: SmallSet<Topic>;
  /** Names to be sent as they are now. */
  readonly owed: SmallSet<string>;
  /** Sum of the hashes of what was sent, for types whose responses are partial (S-VER-2). */
  sum: number;
  /** UTF-16 units of the keys of all subscriptions. */
  nameLength: number;
  /** Full state: the members sent last, which hold the bytes of what is removed until those who refer to it have let go. */
  shown: readonly Entry[];
  /** Full state: the members accepted last. */
  kept: readonly Entry[];
  /** Full state: removed names of these, by canonical key. */
  gone: ReadonlyMap<string, Gone>;
  /** Full state: canonical keys of removed names that stay because they are subscribed, each with the time since when; `parting` ends the oldest. */
  stay: ReadonlyMap<string, number>;
  parting: Timer | undefined;
  /** What is to be sent later as it was at the revision of a cut (S-ORD-4). */
  taken: Taken | undefined;
  /** Names that refer to what the client has not accepted, each with what it lacks. */
  heldBack: Holds;
  /** What it holds for a time only; undefined while nothing that it was sent has a TTL. */
  lifetimes: Lifetimes | undefined;
  /** What was rejected last, and was removed since without a response: if it comes back unchanged, it is not sent again (S-ACK-8). */
  unsaid: Rejected | undefined;
  /** Full state: what is settled goes out although some is not (S-STREAM-9). */
  impatient: boolean;
  patience: Timer | undefined;
}
