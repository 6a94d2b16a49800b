import type { Fault, Held, Interest, ResourceType } from "@xdstp/core";
import type { Classification, ClassifySource } from "./classification.ts";
import type { ClientParts } from "./client-parts.ts";
import type { ReceivedResponse } from "./received.ts";
import type { Wanted, WantedCollection, WantedName } from "./wanted.ts";
import type { WantedReader } from "./wanted-index.ts";

/**
 * The differences between SotW and delta in a client: how interests are requested, and what a
 * response means.
 *
 * The client calls a variant, and a variant never calls back. A variant must not keep an interest
 * longer than its `Memory`, write the state of an interest, read the cache, start timers or send.
 * `Memory` is what a variant remembers of one type on one stream. Only `request` may write it.
 */
export interface ClientVariant<Memory> {
  /** The name of the variant. */
  readonly name: "delta" | "sotw";
  /** Field number of the node in a request. */
  readonly nodeField: number;
  /**
   * True if a new stream lists the cached resources, so that the server sends only what differs
   * (C-RECON-3): a resource that it does not mention is unchanged.
   */
  readonly silenceConfirms: boolean;
  /** The parts of the client, such as `allParts`. */
  readonly parts: ClientParts;

  /**
   * Reads a response of a requested type without decoding payloads. Never throws: `fault` says what
   * cannot be read. `errorText` returns the text of an error as it is stored.
   */
  read(
    message: Uint8Array,
    typeUrl: string,
    type: ResourceType | undefined,
    errorText: (text: string) => string,
  ): ReceivedResponse;
  /**
   * Returns why an interest cannot be requested in this variant (C-GLOB-10). undefined: it can.
   * Called before it is subscribed.
   */
  faultOf(interest: Interest, type: ResourceType | undefined): Fault | undefined;
  /**
   * Creates the memory of a type. Called when a stream begins. `version` is that of the last
   * accepted response of the same server (C-VER-6).
   */
  begin(setup: TypeSetup, wanted: WantedReader, version: string): Memory;
  /**
   * Returns true if these changes can be requested only on a new stream. Called before `request`,
   * at any time. Pure.
   */
  needsNewStream(changes: WantedChanges, wanted: WantedReader, memory: Memory): boolean;
  /**
   * Encodes the next request of the type, without the node. Called when the stream is writable and
   * there is an answer or a change to send.
   */
  request(
    changes: RequestChanges,
    wanted: WantedReader,
    memory: Memory,
  ): {
    /** The request, without the node. */
    readonly bytes: Uint8Array;
    /** True if another request has to follow, even without further changes. */
    readonly more: boolean;
  };
  /**
   * Classifies what a response leaves out (C-FULL-3), created by `createAbsenceClassifier`.
   * undefined: responses have only what has changed, so nothing follows from that.
   */
  readonly absence: AbsenceClassifier<Memory> | undefined;
  /**
   * Returns how an interest of which nothing has come in time is requested again, if the server may
   * believe that the client has it. Called when a time limit has passed. Pure.
   */
  repeat(wanted: Wanted, memory: Memory): "not-needed" | "same-stream" | "new-stream";
}

/**
 * Adds verdicts on what a response without a fault leaves out. A variant with full states brings it
 * along, so that a program without such a variant does not contain it.
 */
export type AbsenceClassifier<Memory> = (
  source: ClassifySource,
  draft: Classification,
  response: ReceivedResponse,
  memory: Memory,
) => void;

/** One type, as a variant is given it. */
export interface TypeSetup {
  /** The type URL of the requests. */
  readonly typeUrl: string;
  /** The descriptor of the type. undefined: the client does not know the type. */
  readonly type: ResourceType | undefined;
}

/** The changes since the last request of the type on the stream. */
export interface WantedChanges {
  /** Interests that were subscribed since. On a new stream: all. */
  readonly added: ReadonlySet<Wanted>;
  /**
   * Interests that were in a request of this stream and are no longer subscribed. An equal interest
   * may be in `added`.
   */
  readonly dropped: readonly Wanted[];
  /**
   * Interests to request again: their resources were lost by the client, or not received in time
   * (C-TTL-3).
   */
  readonly repeated: ReadonlySet<Wanted>;
}

/** The content of a request. */
export interface RequestChanges extends WantedChanges {
  /** The answer to a response. undefined: the request answers nothing. */
  readonly answer:
    | {
        /** The nonce of the response that is answered. */
        readonly nonce: string;
        /** The version of the last accepted response. Empty: none (C-ACK-3). */
        readonly version: string;
        /** Why the response was rejected. Absent: it was accepted. */
        readonly error?: string;
      }
    | undefined;
  /** True for the first request of the type on this stream. */
  readonly isFirst: boolean;
  /**
   * The cached resources of the type. Empty unless it is the first request and
   * {@link ClientVariant.silenceConfirms}.
   */
  readonly cached: readonly Held[];
}

/** An ACK; with an error, a NACK. */
export type Answer = NonNullable<RequestChanges["answer"]>;

/** The conclusion from the names that a response leaves out (C-FULL-3). */
export interface Absence {
  /** Collections that the response has completely. */
  readonly complete: readonly WantedCollection[];
  /**
   * Collections that the response may not have taken into account: members that it leaves out are
   * removed if nothing else comes in time.
   */
  readonly late: readonly WantedCollection[];
  /** Names that are removed if they are cached. */
  readonly removed: readonly WantedName[];
  /** Names that certainly do not exist, even if they were never cached (C-WILD-11). */
  readonly missing: readonly WantedName[];
  /** Names that are awaited and not in this full state. */
  readonly leftOut: readonly WantedName[];
}
