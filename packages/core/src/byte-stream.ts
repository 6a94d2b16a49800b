import type { Status } from "./xds-error.ts";

/**
 * An encoded message. `enveloped` is the same bytes behind the five bytes of gRPC, gRPC-web and Connect, in the same buffer.
 * It may be shared by all streams and is never written again.
 */
export interface Message {
  /** The message. */
  readonly bytes: Uint8Array;
  /** The same bytes behind the five bytes that gRPC puts before a message. */
  readonly enveloped: Uint8Array;
}

/** One bidirectional call, seen from the state machine. Another wire implements this and nothing else. */
export interface ByteStream {
  /** Queues a message. false: the wire is full, wait for `onDrained`; the message was taken all the same. After `close` it is ignored. */
  send(message: Message): boolean;
  /** The peer is not reached yet: `onOpened` says when it is. Absent: it is reached as soon as there is a stream. */
  readonly opening?: boolean;
  /** Reads no message until `resume`; the peer is slowed once the wire is full of what it sends. What has been handed over stays handed over. Absent: the wire cannot. */
  pause?(): void;
  /** Reads on. */
  resume?(): void;
  /**
   * Calls back once: true if no byte of a message was received between now and the peer's answer to a probe, false if a message is on its way or is not read yet.
   * A peer that answers within a round trip has then answered all that was sent before. Not called where the call ends first. Absent: the wire cannot tell.
   */
  probe?(onAnswer: (isIdle: boolean) => void): void;
  /** Ends the call after what was sent; the handler gets no further call but `onClosed`. */
  close(status: Status): void;
}

/** The state machine, seen from the wire. No call may throw; none happens after `onClosed`. */
export interface ByteStreamHandler {
  /** One whole message. The bytes belong to the wire: what is kept has to be copied. */
  onMessage(message: Uint8Array): void;
  /** The peer is reached: what was sent is on its way. Called where `opening` was true, before any message. Absent: not needed. */
  onOpened?(): void;
  /** The wire takes messages again. */
  onDrained(): void;
  /** The call is over, whoever ended it; exactly once. */
  onClosed(status: Status): void;
  /** The peer will send no more. Absent: the call is closed with OK. */
  onEnd?(): void;
  /**
   * May a message of this length, above the ordinary limit, be read? Asked again as its bytes come, until the answer is not undefined.
   * `prefix` is what has arrived of it. Absent: no.
   */
  admits?(length: number, prefix: Uint8Array): boolean | undefined;
}
