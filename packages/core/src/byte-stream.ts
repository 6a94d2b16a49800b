import type { Status } from "./xds-error.ts";

/**
 * An encoded message. `enveloped` has the same bytes after the five-byte prefix of gRPC, gRPC-Web
 * and Connect, in the same buffer. All streams may share it, so it is never written again.
 */
export interface Message {
  /** The message. */
  readonly bytes: Uint8Array;
  /** The same bytes, after the five-byte prefix that gRPC puts before a message. */
  readonly enveloped: Uint8Array;
}

/**
 * One bidirectional call, as the state machine uses it. A new wire implements this interface and
 * nothing else.
 */
export interface ByteStream {
  /**
   * Queues a message. Returns false if the wire is full: wait for `onDrained` before you send more.
   * The message is queued in that case too. A message after `close` is ignored.
   */
  send(message: Message): boolean;
  /**
   * True while the peer is not reached yet; `onOpened` reports when it is. Absent: the peer is
   * reached as soon as the stream exists.
   */
  readonly opening?: boolean;
  /**
   * Reads no message until `resume`. Flow control slows the peer once the buffers of the wire are
   * full. Messages that were already passed to the handler are not affected. Absent: the wire
   * cannot pause.
   */
  pause?(): void;
  /** Continues reading after `pause`. */
  resume?(): void;
  /**
   * Calls back once, when the peer has answered a probe. `isIdle` is true if no byte of a message
   * was received between this call and the answer, and false if a message is on its way or is not
   * read yet.
   * A peer that answers within a round trip has then answered everything that was sent before. The
   * callback is not called if the call ends first. Absent: the wire cannot probe.
   */
  probe?(onAnswer: (isIdle: boolean) => void): void;
  /**
   * Ends the call after the messages that were sent. The handler gets no further call except
   * `onClosed`.
   */
  close(status: Status): void;
}

/**
 * The state machine, as the wire uses it. No method may throw, and none is called after `onClosed`.
 */
export interface ByteStreamHandler {
  /** Handles one whole message. The bytes belong to the wire: copy what you keep. */
  onMessage(message: Uint8Array): void;
  /**
   * The peer is reached, so that the messages that were sent are on their way. Called before any
   * message, and only if `opening` was true. Absent: not needed.
   */
  onOpened?(): void;
  /** The wire accepts messages again. */
  onDrained(): void;
  /** The call is over, whichever side ended it. Called exactly once. */
  onClosed(status: Status): void;
  /** The peer will send no more messages. Absent: the call is closed with OK. */
  onEnd?(): void;
  /**
   * Returns whether a message of this length, above the ordinary limit, may be read. It is called
   * again as more bytes arrive, until it does not return undefined.
   * `prefix` is the part of the message that has arrived. Absent: no such message is read.
   */
  admits?(length: number, prefix: Uint8Array): boolean | undefined;
}
