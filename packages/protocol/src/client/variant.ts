import type { Held, Interest, ResourceType } from "@xdstp/core";
import type { ClientContext } from "./client-context.ts";
import type { ReceivedResponse } from "./received.ts";
import type { Want } from "./want.ts";
import type { Wants } from "./wants.ts";

/** An ACK, or with an error a NACK. */
export interface Answer {
  /** The nonce of the response that is answered. */
  readonly nonce: string;
  /** Of the response that was accepted last. Empty: none (C-ACK-3). */
  readonly version: string;
  /** Why the response was rejected. Absent: it was not. */
  readonly error?: string;
}

/** What a response says by what it leaves out (C-FULL-3). */
export interface Absence {
  /** Globs and wildcards that it holds completely. */
  readonly complete: readonly Want[];
  /** Those that it was perhaps sent before the server had read of: what it leaves out of them is gone if nothing else is said in time. */
  readonly late: readonly Want[];
  /** Names that it would have, were they there; of those that are held. One that is gone already may be held from a server that has stood in for this one. */
  readonly gone: readonly Want[];
  /** Names of which that is certain, so that they are known not to exist even if they were never held (C-WILD-11). */
  readonly missing: readonly Want[];
}

/** The part of one type on one stream that differs between the variants: what has to be said, and how. Nothing in it outlives the stream. */
export interface Subscriptions {
  /** A stream has begun: all of these have to be asked for. `version` is that of the last accepted response of the same server (C-VER-6). */
  begin(wants: Wants, version: string): void;
  /** Subscribes to it with the next request. */
  add(want: Want): void;
  /** Unsubscribes from it with the next request. */
  drop(want: Want): void;
  /** The client has lost track of it: it is asked for again (C-TTL-3). */
  again(want: Want): void;
  /** It has not come in time: true, if it was asked for before on this stream, so that the server may think it is held; it is asked for again, and nothing is concluded yet. Absent: the server always knows. */
  retry?(want: Want): boolean;
  /** There is something to say next to an answer. */
  readonly due: boolean;
  /** What it has to say can be said on a new stream only. Absent: anything can be said on this one. */
  readonly anew?: boolean;
  /** Encodes the next request of the type, without the node. `held` is what is held of the type. */
  request(answer: Answer | undefined, held: () => Iterable<Held>): Uint8Array;
  /** Absent: leaving out says nothing. */
  absence?(response: ReceivedResponse): Absence;
}

/** What differs between SotW and delta on the side of the client. */
export interface ClientVariant {
  /** The name of the variant. */
  readonly name: "delta" | "sotw";
  /** Field number of the node in a request. */
  readonly nodeField: number;
  /** A new stream is told what is held, and the server sends only what differs (C-RECON-3): what it is silent about is as it was. */
  readonly silenceConfirms: boolean;
  /** The type URL of a response; undefined: the bytes are not a response. */
  typeUrlOf(message: Buffer): string | undefined;
  /** Reads a whole response; what cannot be read is its `fault`. Never throws. */
  read(message: Buffer, typeUrl: string, context: ClientContext): ReceivedResponse;
  /** Why something cannot be asked for in this variant (C-GLOB-10). Absent, or undefined: it can. */
  rejectionOf?(interest: Interest, type: ResourceType | undefined): string | undefined;
  /** Makes what writes the requests of one type. */
  createSubscriptions(typeUrl: string, wants: Wants, type: ResourceType | undefined): Subscriptions;
}
