import type { Status } from "@xdstp/core";

/** Which variant of the protocol a stream speaks. */
export type Variant = Recording["variant"];

/** The streams of a client, message by message: what a bug report holds, and what a test plays. */
export interface Recording {
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
  /** What was sent and received, in order. */
  readonly events: readonly RecordedEvent[];
}

/** What happened on a stream. */
export type RecordedEvent = {
  /** Milliseconds since the recording began. */
  readonly at: number;
  /** The number of the stream, from 1. */
  readonly stream: number;
} & (
  | {
      /** The client has begun one. */
      readonly kind: "open";
      /** Whom it asks. */
      readonly server: string;
    }
  | {
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
  | {
      /** It is over. */
      readonly kind: "end";
      /** Who ended it. */
      readonly by: "client" | "server";
      readonly status: Status;
    }
);

/** One message. */
export type RecordedMessage = Extract<RecordedEvent, { readonly bytes: Uint8Array }>;
