import type { Status } from "@xdstp/core";

/** The protocol variant of a stream. */
export type Variant = Recording["variant"];

/**
 * The messages on the streams of a client, in order. A bug report can contain a recording, and a
 * test can replay it.
 */
export interface Recording {
  /** The protocol variant of the streams. */
  readonly variant: "delta" | "sotw";
  /** The gRPC method, `/package.Service/Method`. */
  readonly path: string;
  /** The server of the client, as a text for people. */
  readonly server: string;
  /** The id of the node. */
  readonly node: string;
  /** The time at which the recording began, in milliseconds since the epoch. */
  readonly time: number;
  /** The events, in order. */
  readonly events: readonly RecordedEvent[];
}

/** An event on a stream. */
export type RecordedEvent = {
  /** The milliseconds since the recording began. */
  readonly at: number;
  /** The number of the stream, from 1. */
  readonly stream: number;
} & (
  | {
      /** The client has opened a stream. */
      readonly kind: "open";
      /** The server that the stream goes to. */
      readonly server: string;
    }
  | {
      /** The kind of the message: the client sent a `request`, the server sent a `response`. */
      readonly kind: "request" | "response";
      /** The type URL of the message. */
      readonly type: string;
      /**
       * The nonce of the response, or the nonce that the request answers. Empty if there is none.
       */
      readonly nonce: string;
      /** A summary of the message, for people. */
      readonly text: string;
      /** The bytes of the message, without the five bytes that gRPC puts before it. */
      readonly bytes: Uint8Array;
    }
  | {
      /** The stream has ended. */
      readonly kind: "end";
      /** The side that ended the stream. */
      readonly by: "client" | "server";
      readonly status: Status;
    }
);

/** An event that is a message. */
export type RecordedMessage = Extract<RecordedEvent, { readonly bytes: Uint8Array }>;
