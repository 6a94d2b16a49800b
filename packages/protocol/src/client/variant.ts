import type { Fault, Held, Interest, ResourceType } from "@xdstp/core";
import type { ClientLimits } from "./client-limits.ts";
import type { ReceivedResponse } from "./received.ts";
import type { Wanted, WantedCollection, WantedName } from "./wanted.ts";

/**
 * What differs between SotW and delta on the side of the client: how interests are requested, and what a response means.
 *
 * A variant is called and never calls back. It may not keep an interest longer than its `Memory`, write the state of one, read the cache, start timers or send.
 * `Memory` is what a variant has to remember of one type on one stream. Only `request` may write it.
 */
export interface ClientVariant<Memory> {
  /** The name of the variant. */
  readonly name: "delta" | "sotw";
  /** Field number of the node in a request. */
  readonly nodeField: number;
  /** A new stream lists what is cached, and the server sends only what differs (C-RECON-3): what it does not mention is unchanged. */
  readonly silenceConfirms: boolean;

  /** Reads a response of a requested type without decoding payloads. Never throws: what cannot be read is its `fault`. */
  read(
    message: Buffer,
    typeUrl: string,
    type: ResourceType | undefined,
    limits: ClientLimits,
  ): ReceivedResponse;
  /** Why an interest cannot be requested in this variant (C-GLOB-10); undefined: it can. Called before it is subscribed. */
  faultOf(interest: Interest, type: ResourceType | undefined): Fault | undefined;
  /** Makes the memory of a type. Called when a stream begins. `version` is that of the last accepted response of the same server (C-VER-6). */
  begin(setup: TypeSetup, wanted: WantedReader, version: string): Memory;
  /** Whether these changes can only be requested on a new stream. Called before `request`, at any time. Pure. */
  needsNewStream(changes: WantedChanges, wanted: WantedReader, memory: Memory): boolean;
  /** Encodes the next request of the type, without the node. Called when the stream is writable, and there is an answer or a change to send. */
  request(
    changes: RequestChanges,
    wanted: WantedReader,
    memory: Memory,
  ): {
    /** The request, without the node. */
    readonly bytes: Uint8Array;
    /** Another request has to follow, also without further changes. */
    readonly more: boolean;
  };
  /** What a response says by what it leaves out (C-FULL-3); undefined: nothing. Called once for each response that has no fault. Pure. */
  absence(response: ReceivedResponse, wanted: WantedReader, memory: Memory): Absence | undefined;
  /** How an interest of which nothing came in time is requested again, where the server may take it for known. Called by the deadlines. Pure. */
  repeat(wanted: Wanted, memory: Memory): "not-needed" | "same-stream" | "new-stream";
}

/** One type, as a variant sees it. */
export interface TypeSetup {
  /** The type URL of the requests. */
  readonly typeUrl: string;
  /** The data of the type; undefined: the client does not know it. */
  readonly type: ResourceType | undefined;
}

/** All interests of a type that are subscribed, in the order in which they were. */
export interface WantedReader extends Iterable<Wanted> {
  /** Number of interests. */
  readonly size: number;
  /** Those that a resource of this name (a key), with these aliases, answers (C-ALIAS-3). */
  covering(key: string, aliases?: readonly string[]): readonly Wanted[];
}

/** What has changed since the last request of the type on the stream. */
export interface WantedChanges {
  /** Subscribed since. On a new stream: all. */
  readonly added: ReadonlySet<Wanted>;
  /** Was in a request of this stream and is not subscribed any more. An equal interest may be among `added`. */
  readonly dropped: readonly Wanted[];
  /** Lost by the client, or not received in time: requested again (C-TTL-3). */
  readonly repeated: ReadonlySet<Wanted>;
}

/** What a request has to say. */
export interface RequestChanges extends WantedChanges {
  /** The answer to a response; undefined: the request answers nothing. */
  readonly answer:
    | {
        /** The nonce of the response that is answered. */
        readonly nonce: string;
        /** Of the response that was accepted last. Empty: none (C-ACK-3). */
        readonly version: string;
        /** Why the response was rejected. Absent: it was not. */
        readonly error?: string;
      }
    | undefined;
  /** It is the first request of the type on this stream. */
  readonly isFirst: boolean;
  /** What is cached of the type; empty unless it is the first request and {@link ClientVariant.silenceConfirms}. */
  readonly cached: readonly Held[];
}

/** An ACK, or with an error a NACK. */
export type Answer = NonNullable<RequestChanges["answer"]>;

/** What a response says by what it leaves out (C-FULL-3). */
export interface Absence {
  /** Collections that it has completely. */
  readonly complete: readonly WantedCollection[];
  /** Collections that it may not have taken account of: what it leaves out of them is removed if nothing else comes in time. */
  readonly late: readonly WantedCollection[];
  /** Names that are removed, if they are cached. */
  readonly removed: readonly WantedName[];
  /** Names that certainly do not exist, also if they were never cached (C-WILD-11). */
  readonly missing: readonly WantedName[];
  /** Names that are waited for and not in this full state. */
  readonly leftOut: readonly WantedName[];
}
