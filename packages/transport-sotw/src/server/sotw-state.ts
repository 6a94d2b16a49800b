import type { Entry, Timer, Topic } from "@xdstp/core";
import type {
  FrameProfile,
  Rejected,
  ServedType,
  SmallSet,
  Gathered as Response,
} from "@xdstp/protocol/server";

/** A removed name that is shown until those who refer to it have let go (S-ORD-3). */
export interface Gone {
  /** Revision at which the removal was seen. */
  readonly revision: number;
  /** The client has a state of it that is not older than this revision. */
  readonly base: number;
}

/** A removed name that is shown while it is subscribed (S-ORD-3). */
export interface Stay extends Pick<Gone, "base"> {
  /** When that began, by `Clock.now()`. */
  readonly since: number;
}

/** The part of a state that a cut takes out and only the variant knows. */
export interface BeforeTaken extends Pick<SotwState, "gone"> {
  readonly unanswered: readonly Topic[];
}

/** One type on one SotW stream. */
export interface SotwState extends ServedType<Gathered, BeforeTaken> {
  /** Wrapped or not; may change with the first request that uses locators. */
  profile: FrameProfile;

  /** All lists so far were empty, so an empty one means `*` (S-WILD-2). */
  legacy: boolean;
  /** Hash of the bytes of the newest list, by which a plain ACK is known; undefined: the wanted set is not that of a list. */
  listHash: number | undefined;
  /** Hash of the newest wanted set, dynamic parameters included. */
  wantedHash: number | undefined;
  /** The client has come with a version, and there was no response yet. */
  returning: boolean;
  /** The first response was sent, or is not needed (S-RECON-7). */
  answered: boolean;

  /** Topics that are new in the list and get everything, before they are settled. */
  readonly unsettled: SmallSet<Topic>;
  /** The same, once they are settled. */
  readonly unanswered: SmallSet<Topic>;
  /** Full state: the members sent last, which hold the bytes of what is removed until those who refer to it have let go. */
  shown: readonly Entry[];
  /** Full state: the members accepted last. */
  kept: readonly Entry[];
  /** Full state: removed names of these, by canonical key. */
  gone: ReadonlyMap<string, Gone>;
  /** Full state: canonical keys of removed names that stay because they are subscribed; `parting` ends the oldest. */
  stay: ReadonlyMap<string, Stay>;
  parting: Timer | undefined;
  /** What was rejected last, and was removed since without a response: if it comes back unchanged, it is not sent again (S-ACK-8). */
  unsaid: Rejected | undefined;
  /** Full state: what is settled goes out although some is not (S-STREAM-9). */
  impatient: boolean;
  patience: Timer | undefined;
}

/** What is pending on a type, taken as of now. */
export interface Gathered extends Response {
  /** The entries that are new or changed: names that wait for them are sent again (S-WARM-1). */
  readonly fresh: readonly Entry[];
  /** Of all that the client has with it: the content version is made of it (S-VER-3). undefined: it is a full state. */
  readonly hash: number | undefined;
  /** The `version_info`. */
  readonly version: string;
  /** Something is new to this client, so that a response is due even if it holds the same version, or none at all. */
  readonly due: boolean;
}
