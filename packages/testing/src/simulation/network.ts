import type { ByteStream, ByteStreamHandler } from "@xdstp/core";

/** Which end. */
export type Side = "client" | "server";

/** Sees what travels, as bytes; must not keep or change them. */
export interface NetworkObserver {
  /** An end sends a message. */
  onSent?(connection: Connection, from: Side, bytes: Uint8Array): void;
  /** A message is about to be handed to the other end. */
  onArrived?(connection: Connection, from: Side, bytes: Uint8Array): void;
}

/** Byte streams between the programs of one process. Within a stream nothing overtakes; streams overtake each other. */
export interface Network {
  /**
   * Accepts the calls to an address until it is closed. Streams that are open then go on. Throws where a server listens there already.
   * @param serve - Answers a call: gets the stream to write to, and returns the handler of what comes
   */
  listen(
    address: string,
    serve: (out: ByteStream, connection: Connection) => ByteStreamHandler,
  ): { close(): void };
  /** Opens a stream; `opening` at first. Without a server it is closed with UNAVAILABLE. */
  connect(address: string, handler: ByteStreamHandler): ByteStream;
  /** Those of which an end is open, oldest first. */
  readonly connections: readonly Connection[];
  /** The next call arrives twice, as if a proxy had tried again: the second one receives all that the client sends, and its answers are lost. */
  duplicateNext(): void;
}

/** The server of an address. */
export type Serve = Parameters<Network["listen"]>[1];

/** One call, and what may befall it. */
export interface Connection {
  /** Counts up from 1. */
  readonly id: number;
  /** The server that it leads to. */
  readonly address: string;
  /** The other half of a duplicate call, whose answers are lost. */
  readonly isDuplicate: boolean;
  /** Whether this end takes it for open. */
  isOpen(side: Side): boolean;
  /**
   * Nothing arrives any more. A side that is notified sees UNAVAILABLE at once; one that is not goes on, receives nothing, and notices it after the time of the keepalive: the connection is half-open.
   */
  cut(told: "both" | "neither" | Side): void;
  /** For `ms` milliseconds nothing arrives, either way; then all of it. Neither side is notified. */
  stall(ms: number): void;
  /** The client, or the server, needs `ms` milliseconds more for each message: a slow reader, which fills the window of the other side. 0: no more. */
  slow(side: Side, ms: number): void;
}
