import type { ByteStream, ByteStreamHandler } from "@xdstp/core";

/** A side of a connection. */
export type Side = "client" | "server";

/** Observes messages as bytes. It must not keep or change them. */
export interface NetworkObserver {
  /** Called when a side sends a message. */
  onSent?(connection: Connection, from: Side, bytes: Uint8Array): void;
  /** Called before a message is passed to the other side. */
  onArrived?(connection: Connection, from: Side, bytes: Uint8Array): void;
}

/**
 * Byte streams between the programs of one process. The messages of one stream arrive in order;
 * messages of different streams may overtake each other.
 */
export interface Network {
  /**
   * Accepts the calls to an address until it is closed. Open streams then continue. Throws if a
   * server listens there already.
   * @param serve - Answers a call: gets the stream to write to, and returns the handler of received
   * messages
   */
  listen(
    address: string,
    serve: (out: ByteStream, connection: Connection) => ByteStreamHandler,
  ): { close(): void };
  /** Opens a stream; `opening` at first. Without a server it is closed with UNAVAILABLE. */
  connect(address: string, handler: ByteStreamHandler): ByteStream;
  /** The connections with an open side, oldest first. */
  readonly connections: readonly Connection[];
  /**
   * Makes the next call arrive twice, as if a proxy had retried it: the second one receives
   * everything that the client sends, and its answers are lost.
   */
  duplicateNext(): void;
}

/** The server of an address. */
export type Serve = Parameters<Network["listen"]>[1];

/** One call, and the faults that can happen to it. */
export interface Connection {
  /** Increases from 1. */
  readonly id: number;
  /** The address of the server. */
  readonly address: string;
  /** True for the second call of a duplicate, whose answers are lost. */
  readonly isDuplicate: boolean;
  /** Returns true if this side treats the connection as open. */
  isOpen(side: Side): boolean;
  /** Returns true if this side may not send before `onDrained`. */
  isPaused(side: Side): boolean;
  /**
   * Cuts the connection: nothing arrives any more. A notified side sees UNAVAILABLE at once. The
   * other side continues, receives nothing, and notices after the keepalive time: the connection is
   * half-open.
   */
  cut(told: "both" | "neither" | Side): void;
  /**
   * Delays everything in both directions by up to `ms` milliseconds; then all of it arrives.
   * Neither side is notified.
   */
  stall(ms: number): void;
  /**
   * Makes the client, or the server, need `ms` milliseconds more for each message, as a slow reader
   * that fills the window of the other side. 0: ends this.
   */
  slow(side: Side, ms: number): void;
}
