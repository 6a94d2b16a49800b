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

/** A type on a stream before it has subscriptions. */
export interface TypeSetup extends ExchangeOwner {
  /** The stream. */
  readonly host: TypeHost;
  /** Its place in the order of sending (S-ORD-1). */
  readonly rank: number;
  /** Known peculiarities of the client. */
  readonly quirks: ClientQuirks;
  /** The machine: it watches the topics, and its heartbeats. */
  readonly watcher: Watcher & Beating;
}

/** Topics that wait for something. */
export interface TopicsWaiting {
  /** How many there are. */
  readonly size: number;
  /** Whether this one waits. */
  has(topic: Topic): boolean;
}

/** A response that is gathered and not sent yet. */
export interface Gathered {
  /** One entry per name; an array that streams in the same state share, where there is one. */
  readonly entries: readonly Entry[];
  /** Where the entries come from. */
  readonly origin: Origin;
  /** Revision from which to start again if it is rejected. */
  readonly base: number;
  /** Some of it answers a request, and may be older than that. */
  readonly asked: boolean;
  /** Revision of the oldest state that the client may have of a name whose removal waited before. It may exist again. */
  readonly heldBase: number;
  /** What was rejected and starts again in it. */
  readonly rejected?: Rejected;
}

/** Changes that were pending on a type before a response was gathered. */
export interface Pending extends Pick<ServedType, "sent"> {
  /** Answered topics with changes. */
  readonly dirty: readonly Topic[];
  /** Names to be sent. */
  readonly owed: readonly string[];
  /** A rejection that was to start again. */
  readonly rejected: Rejected | undefined;
}

/** A response that waits as it was at the revision of a cut, and the state from which it was gathered (S-ORD-4). */
export interface Taken<Response extends Gathered, Before> {
  /** The response. */
  readonly gathered: Response;
  /** The state before, as far as the machine knows it. */
  readonly pending: Pending;
  /** The state before, as far as only the variant knows it. */
  readonly before: Before;
  /** All that the client holds once it has it. undefined: nothing of it has a TTL. */
  readonly holding: readonly Entry[] | undefined;
}

/** One type on one stream: what both variants keep of it. What the client has is one number, `exchange.accepted`; everything else is what it is still owed. */
export interface ServedType<Response extends Gathered = Gathered, Before = unknown>
  extends TypeSetup, Subscriptions {
  /** The hashes from which the version of its state is made. undefined: it has one topic, or none. */
  counted: CountedHashes | undefined;
  /** How its entries become frames. */
  readonly profile: FrameProfile;
  /** Revision up to which changes of answered topics have been sent. */
  sent: number;
  /** The first response was sent, or is not needed (S-RECON-6, S-RECON-7). */
  readonly answered: boolean;
  /** Topics without a first answer, before they are settled. */
  readonly unsettled: TopicsWaiting;
  /** The same, once they are settled. */
  readonly unanswered: TopicsWaiting;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: SmallSet<Topic>;
  /** Answered topics with changes. */
  readonly dirty: SmallSet<Topic>;
  /** Names to be sent as they are now. */
  readonly owed: SmallSet<string>;
  /** What is to be sent later as it was at the revision of a cut (S-ORD-4). */
  taken: Taken<Response, Before> | undefined;
  /** Names that refer to what the client has not accepted, each with what it lacks. */
  heldBack: Holds;
  /** Resources that the client holds for a limited time. undefined: nothing that it was sent has a TTL. */
  lifetimes: Lifetimes | undefined;
}

/** What a variant makes of the requests of a type. */
export interface VariantRequests<Request, State> {
  /**
   * Takes what a request subscribes to and unsubscribes from.
   * @returns whether the request answers a response as well
   */
  subscribe(state: State, request: Request, isFirst: boolean): boolean;
  /** Returns whether a message is an ACK and nothing else. It must not allocate. */
  isPlainAck(state: State, message: Uint8Array, scan: RequestScan): boolean;
  /** Takes note that a topic without a first answer has changed: it may be settled. */
  settle(state: State, topic: Topic): void;
  /** Returns whether what was sent last has changed since. Called for a rejection only. */
  hasMoved(state: State): boolean;
  /** Takes note of the last answer to a response. */
  noteAnswer(state: State, answered: Batch | undefined): void;
}

/** How a variant makes the responses of a type. */
export interface VariantResponses<State, Response extends Gathered = Gathered, Before = unknown> {
  /** Returns whether something could be sent now but for flow control and order. `hasUpdates`: something has changed, was requested or starts again after a rejection. */
  isPending(state: State, hasUpdates: boolean): boolean;
  /** Takes everything that is pending out of the state, with removals up to a revision. undefined: the history that the client would need is not kept any more. */
  gather(state: State, removeUpTo: number): Response | undefined;
  /** Copies what `gather` takes out of the state and only the variant knows. */
  copyPending(state: State): Before;
  /** Puts it back: the client has not seen anything of it. */
  putBack(state: State, before: Before): void;
  /** Says when a response has to wait as a whole. */
  wholeOptions(state: State, response: Response): WholeOptions;
  /**
   * Sends a response without the names that have to wait (S-ORD-4), if there is something to say.
   * @returns what of it was sent, or did not have to be
   */
  deliver(state: State, response: Response, isLimited: boolean): readonly Entry[];
  /** Returns the full state that was sent last, which is all that the client holds. undefined: the responses of the type are partial. */
  fullState(state: State): readonly Entry[] | undefined;
}

/** What a variant does with removals, which wait until those who refer to the names have let go (S-ORD-3). */
export interface VariantRemovals<State, Response extends Gathered = Gathered> {
  /** How the client learns of them. */
  form(state: State): TypeView["removals"];
  /** Revision of the oldest one that waits; Infinity: none does. */
  from(state: State): number;
  /** Revision of the oldest state that the client may have of a name whose removal waits; Infinity: none waits. */
  base(state: State): number;
  /** Returns those that wait: the client has these names in the state that it was sent last. */
  waiting(state: State): readonly Entry[];
  /** Takes those out that wait, up to a revision. undefined: there are none. */
  gather(state: State, removeUpTo: number): Response | undefined;
}

/** What a variant knows of one name. */
export interface VariantNames<State> {
  /** Returns whether a subscription covers it, under this name or as an alias. */
  isCovered(state: State, name: string): boolean;
  /** Returns its present state as this client should see it. undefined: that is not known. */
  lookUp(state: State, name: string): Entry | undefined;
  /** Returns the same of a name that waits. undefined: it is not wanted, or no response can name its removal. */
  newest(state: State, name: string): Entry | "removed" | undefined;
  /** Returns whether the client may have it from an earlier stream. */
  mayHaveFromBefore(state: State, name: string): boolean;
  /** Returns whether an entry of it is still to be sent. */
  isToBeSent(state: State, topic: Topic, entry: Entry): boolean;
  /** Owes it again, since what waits for it was sent (S-WARM-1). */
  warm(state: State, name: string): void;
}

/** The part of a variant that says what a client holds. */
export interface VariantHolding<State> {
  /** The full state. */
  readonly responses: Pick<VariantResponses<State>, "fullState">;
  /** The removals that wait. */
  readonly removals: Pick<VariantRemovals<State>, "waiting">;
  /** The names that are covered. */
  readonly names: Pick<VariantNames<State>, "isCovered">;
}

/**
 * The differences between delta and SotW in serving one type on one stream. The machine (`createServedType`) calls these functions, and they never call the machine.
 * The state belongs to the stream and is passed to each of them.
 */
export interface ServerVariant<
  Request extends DecodedRequest,
  State extends ServedType<Response, Before>,
  Response extends Gathered = Gathered,
  Before = unknown,
> {
  /** Makes the state of a type without subscriptions. */
  createState(setup: TypeSetup): State;
  /** What it makes of requests. */
  readonly requests: VariantRequests<Request, State>;
  /** How it makes responses. */
  readonly responses: VariantResponses<State, Response, Before>;
  /** What it does with removals. */
  readonly removals: VariantRemovals<State, Response>;
  /** What it knows of one name. */
  readonly names: VariantNames<State>;
  /** Ends timers of its own. */
  close(state: State): void;
}

/** The place of a type: a stream and its server. */
export interface TypeOrigin {
  /** The part that all streams share. */
  readonly context: ServerContext;
  /** The stream. */
  readonly host: TypeHost;
  /** The type URL. */
  readonly typeUrl: string;
  /** The stream, for events. */
  readonly stream: StreamInfo;
}
