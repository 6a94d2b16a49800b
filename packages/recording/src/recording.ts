import type { Status } from "@xdstp/core";

/** Which variant of the protocol a stream speaks. */
export type Variant = RecordingHeader["variant"];

/** The first line of a recording. */
export interface RecordingHeader {
  /** The variant of the stream. */
  readonly variant: "delta" | "sotw";
  /** The method, `/package.Service/Method`. */
  readonly path: string;
  /** The server of the client, for people. */
  readonly server: string;
  /** The id of the node. */
  readonly node: string;
  /** When it began, in milliseconds since the epoch. */
  readonly time: number;
}

/** Where an event stands. */
interface Moment {
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** The number of the stream, from 1. */
  readonly stream: number;
}

/** One message. */
export interface RecordedMessage extends Moment {
  /** Who sent it: `request` the client, `response` the server. */
  readonly kind: "request" | "response";
  /** The type URL. */
  readonly type: string;
  /** That of a response, or the one that a request answers; empty: none. */
  readonly nonce: string;
  /** What it says, for people. */
  readonly text: string;
  /** The message as it was on the wire, without the five bytes of gRPC. */
  readonly bytes: Uint8Array;
}

/** What happened on a stream. */
export type RecordedEvent =
  /** The client has begun one. `server`: whom it asks. */
  | (Moment & { readonly kind: "open"; readonly server: string })
  | RecordedMessage
  /** It is over; `by` says who ended it. */
  | (Moment & { readonly kind: "end"; readonly by: "client" | "server"; readonly status: Status });

/** The streams of a client, message by message: what a bug report holds, and what a test plays. */
export interface Recording extends RecordingHeader {
  /** What was sent and received, in order. */
  readonly events: readonly RecordedEvent[];
}
