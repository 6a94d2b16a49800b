import type { Entry, Timer, Topic } from "@xdstp/core";
import type {
  FrameProfile,
  Rejected,
  ServedType,
  SmallSet,
  Gathered as Response,
} from "@xdstp/protocol/server";

/** A removed name that is shown until no resource refers to it (S-ORD-3). */
export interface Gone {
  /** The revision at which the removal was seen. */
  readonly revision: number;
  /** The client has a state of it that is not older than this revision. */
  readonly base: number;
}

/** A removed name that is shown while it is subscribed (S-ORD-3). */
export interface Stay extends Pick<Gone, "base"> {
  /** When that began, by `Clock.now()`. */
  readonly since: number;
}

/** The state of the variant that a cut changes. */
export interface BeforeTaken extends Pick<SotwState, "gone"> {
  readonly unanswered: readonly Topic[];
}

/** The state of one type on one SotW stream. */
export interface SotwState extends ServedType<Gathered, BeforeTaken> {
  /** The profile, wrapped or not; it may change with the first request that uses locators. */
  profile: FrameProfile;

  /** True if all lists so far were empty, so that an empty one means `*` (S-WILD-2). */
  legacy: boolean;
  /**
   * The hash of the encoded newest list, by which a plain ACK is recognized. undefined: the
   * subscriptions are not those of a list.
   */
  listHash: number | undefined;
  /** The hash of the newest subscriptions, dynamic parameters included. */
  wantedHash: number | undefined;
  /** True if the client has come with a version, and no response was sent yet. */
  returning: boolean;
  /** True if the first response was sent, or is not needed (S-RECON-7). */
  answered: boolean;

  /** Topics that are new in the list, which have no first answer, and that are not settled. */
  readonly unsettled: SmallSet<Topic>;
  /** Topics without a first answer that are settled. */
  readonly unanswered: SmallSet<Topic>;
  /**
   * Full state: the members that were last sent. They keep removed resources until no resource
   * refers to them.
   */
  shown: readonly Entry[];
  /** Full state: the members that were last accepted. */
  kept: readonly Entry[];
  /** Full state: the removed names among them, by canonical key. */
  gone: ReadonlyMap<string, Gone>;
  /**
   * Full state: the canonical keys of removed names that stay because they are subscribed. The
   * timer `parting` ends the oldest.
   */
  stay: ReadonlyMap<string, Stay>;
  parting: Timer | undefined;
  /**
   * Content that was last rejected, and was removed since without a response: if it comes back
   * unchanged, it is not sent again (S-ACK-8).
   */
  unsaid: Rejected | undefined;
  /** Full state: what is settled is sent although other names are not (S-STREAM-9). */
  impatient: boolean;
  patience: Timer | undefined;
}

/** A response with everything that is pending on a type. */
export interface Gathered extends Response {
  /** The entries that are new or changed: names that wait for them are sent again (S-WARM-1). */
  readonly fresh: readonly Entry[];
  /**
   * The sum of the hashes of everything that the client has with it, from which the content version
   * is made (S-VER-3). undefined: it is a full state.
   */
  readonly hash: number | undefined;
  /** The `version_info`. */
  readonly version: string;
  /**
   * True if something is new to this client, so that a response has to be sent even if it has the
   * same version, or no resources.
   */
  readonly due: boolean;
}
