import type { Entry, Topic, Watcher } from "@xdstp/core";
import type { Batch } from "../delivery/batch.ts";
import type { ExchangeOwner, Rejected } from "../delivery/exchange.ts";
import type { FrameProfile } from "../delivery/frame-cache.ts";
import type { Lifetimes } from "../delivery/lifetimes.ts";
import type { Origin } from "../delivery/origin.ts";
import type { TypeView } from "../delivery/type-view.ts";
import type { WholeOptions } from "../order/hold-back.ts";
import type { Holds } from "../order/hold.ts";
import type { SmallSet } from "../subscription/small-set.ts";
import type { CountedHashes } from "../subscription/state-hash.ts";
import type { Subscriptions } from "../subscription/subscriptions.ts";
import type { RequestScan } from "../wire/scan-request.ts";
import type { Beating } from "./heartbeats.ts";
import type { ClientQuirks } from "./quirks.ts";
import type { ServerContext } from "./server-context.ts";
import type { StreamInfo } from "./stream-event.ts";
import type { DecodedRequest, TypeHost } from "./type-machine.ts";

/** One type on one stream before it has subscriptions. */
export interface TypeSetup extends ExchangeOwner {
  /** The stream. */
  readonly host: TypeHost;
  /** Its rank in the order of sending (S-ORD-1). */
  readonly rank: number;
  /** The differences of the client from the rules. */
  readonly quirks: ClientQuirks;
  /** The machine of the type, which watches the topics and sends heartbeats. */
  readonly watcher: Watcher & Beating;
}

/** A set of topics that wait for something. */
export interface TopicsWaiting {
  /** The number of topics. */
  readonly size: number;
  /** Returns true if this topic is in the set. */
  has(topic: Topic): boolean;
}

/** A response that is gathered and not sent yet. */
export interface Gathered {
  /** One entry per name. Where possible the array is shared by streams in the same state. */
  readonly entries: readonly Entry[];
  /** The origin of the entries. */
  readonly origin: Origin;
  /** The revision from which to start again if the response is rejected. */
  readonly base: number;
  /** True if some of it answers a request, so that it may be older than `base`. */
  readonly asked: boolean;
  /**
   * The revision of the oldest state that the client may have of a name whose removal has waited.
   * The name may exist again.
   */
  readonly heldBase: number;
  /** Rejected content that the response includes again. */
  readonly rejected?: Rejected;
}

/** The changes of a type that were pending before a response was gathered. */
export interface Pending extends Pick<ServedType, "sent"> {
  /** Topics with a first answer that have changes. */
  readonly dirty: readonly Topic[];
  /** Names to send. */
  readonly owed: readonly string[];
  /** Rejected content that was due to be sent again. */
  readonly rejected: Rejected | undefined;
}

/**
 * A response that waits in its state at the revision of a cut, and the state from which it was
 * gathered (S-ORD-4).
 */
export interface Taken<Response extends Gathered, Before> {
  /** The response. */
  readonly gathered: Response;
  /** The earlier state of the machine. */
  readonly pending: Pending;
  /** The earlier state of the variant. */
  readonly before: Before;
  /**
   * Everything that the client has once it is sent the response. undefined: none of it has a TTL.
   */
  readonly holding: readonly Entry[] | undefined;
}

/**
 * The state of one type on one stream in both variants. What the client has is one number,
 * `exchange.accepted`; everything else is what it is still to be sent.
 */
export interface ServedType<Response extends Gathered = Gathered, Before = unknown>
  extends TypeSetup, Subscriptions {
  /** The hashes that make up the version of its state. undefined: it has one topic, or none. */
  counted: CountedHashes | undefined;
  /** The way in which its entries become frames. */
  readonly profile: FrameProfile;
  /** The revision up to which changes of topics with a first answer were sent. */
  sent: number;
  /** True if the first response was sent, or is not needed (S-RECON-6, S-RECON-7). */
  readonly answered: boolean;
  /** Topics that have no first answer and are not settled. */
  readonly unsettled: TopicsWaiting;
  /** Topics that have no first answer and are settled. */
  readonly unanswered: TopicsWaiting;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: SmallSet<Topic>;
  /** Topics with a first answer that have changes. */
  readonly dirty: SmallSet<Topic>;
  /** Names to send in their newest state. */
  readonly owed: SmallSet<string>;
  /**
   * The response that is to be sent later in its state at the revision of a cut (S-ORD-4).
   * undefined: none.
   */
  taken: Taken<Response, Before> | undefined;
  /** Names that refer to a name which the client has not accepted, each with what it lacks. */
  heldBack: Holds;
  /** The resources that the client has, with their TTLs. undefined: none of them ever had a TTL. */
  lifetimes: Lifetimes | undefined;
}

/** The part of a variant that handles the requests of a type. */
export interface VariantRequests<Request, State> {
  /**
   * Applies the subscriptions of a request.
   * @returns true if the request also answers a response
   */
  subscribe(state: State, request: Request, isFirst: boolean): boolean;
  /** Returns true if a message is an ACK and nothing else. It must not allocate. */
  isPlainAck(state: State, message: Uint8Array, scan: RequestScan): boolean;
  /** Called when a topic without a first answer has changed: it may be settled. */
  settle(state: State, topic: Topic): void;
  /** Returns true if what was last sent has changed since. Called for a rejection only. */
  hasMoved(state: State): boolean;
  /** Called with the last answer to a response. */
  noteAnswer(state: State, answered: Batch | undefined): void;
}

/** The part of a variant that creates the responses of a type. */
export interface VariantResponses<State, Response extends Gathered = Gathered, Before = unknown> {
  /**
   * Returns true if something could be sent now, apart from flow control and order. `hasUpdates`:
   * something has changed, was requested, or is to be sent again after a rejection.
   */
  isPending(state: State, hasUpdates: boolean): boolean;
  /**
   * Takes everything that is pending out of the state, with removals up to a revision. undefined:
   * the history that the client needs is not stored any more.
   */
  gather(state: State, removeUpTo: number): Response | undefined;
  /** Copies the state of the variant that `gather` changes. */
  copyPending(state: State): Before;
  /** Puts that state back: the client was sent nothing of it. */
  putBack(state: State, before: Before): void;
  /** Returns the conditions under which a response has to wait as a whole. */
  wholeOptions(state: State, response: Response): WholeOptions;
  /**
   * Sends a response without the names that have to wait (S-ORD-4), if there is something to send.
   * @returns the entries that were sent, or did not have to be
   */
  deliver(state: State, response: Response, isLimited: boolean): readonly Entry[];
  /**
   * Returns the full state that was last sent, which is everything that the client has. undefined:
   * responses of the type are partial.
   */
  fullState(state: State): readonly Entry[] | undefined;
}

/**
 * The part of a variant that handles removals, which wait until no resource refers to the name
 * (S-ORD-3).
 */
export interface VariantRemovals<State, Response extends Gathered = Gathered> {
  /** Returns how the client learns of removals. */
  form(state: State): TypeView["removals"];
  /** Returns the revision of the oldest removal that waits; Infinity: none waits. */
  from(state: State): number;
  /**
   * Returns the revision of the oldest state that the client may have of a name whose removal
   * waits; Infinity: none waits.
   */
  base(state: State): number;
  /**
   * Returns the removals that wait: the client has these names in the state that it was last sent.
   */
  waiting(state: State): readonly Entry[];
  /** Takes the removals that wait, up to a revision, as a response. undefined: there are none. */
  gather(state: State, removeUpTo: number): Response | undefined;
}

/** The part of a variant that knows single names. */
export interface VariantNames<State> {
  /** Returns true if a subscription covers a name, directly or as an alias. */
  isCovered(state: State, name: string): boolean;
  /** Returns the present entry of a name, as this client is to see it. undefined: not known. */
  lookUp(state: State, name: string): Entry | undefined;
  /**
   * Returns the present state of a name that waits. undefined: it is not subscribed, or no response
   * can report its removal.
   */
  newest(state: State, name: string): Entry | "removed" | undefined;
  /** Returns true if the client may have a name from an earlier stream. */
  mayHaveFromBefore(state: State, name: string): boolean;
  /** Returns true if an entry is still to be sent. */
  isToBeSent(state: State, topic: Topic, entry: Entry): boolean;
  /** Marks a name to be sent again, since a resource that waits for it was sent (S-WARM-1). */
  warm(state: State, name: string): void;
}

/** The part of a variant that knows what a client has. */
export interface VariantHolding<State> {
  /** The full state. */
  readonly responses: Pick<VariantResponses<State>, "fullState">;
  /** The removals that wait. */
  readonly removals: Pick<VariantRemovals<State>, "waiting">;
  /** The names that are covered. */
  readonly names: Pick<VariantNames<State>, "isCovered">;
}

/**
 * The differences between delta and SotW in serving one type on one stream. The machine
 * (`createServedType`) calls these functions, and they never call the machine.
 * The state belongs to the stream and is passed to each function.
 */
export interface ServerVariant<
  Request extends DecodedRequest,
  State extends ServedType<Response, Before>,
  Response extends Gathered = Gathered,
  Before = unknown,
> {
  /** Creates the state of a type without subscriptions. */
  createState(setup: TypeSetup): State;
  /** Handles requests. */
  readonly requests: VariantRequests<Request, State>;
  /** Creates responses. */
  readonly responses: VariantResponses<State, Response, Before>;
  /** Handles removals. */
  readonly removals: VariantRemovals<State, Response>;
  /** Knows single names. */
  readonly names: VariantNames<State>;
  /** Ends the timers of the variant. */
  close(state: State): void;
}

/** The place of a type: its stream and its server. */
export interface TypeOrigin {
  /** The context that all streams of the server share. */
  readonly context: ServerContext;
  /** The stream. */
  readonly host: TypeHost;
  /** The type URL. */
  readonly typeUrl: string;
  /** The stream, for events. */
  readonly stream: StreamInfo;
}
