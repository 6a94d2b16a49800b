import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";
import { copyBytes } from "@xdstp/core/wire";
import type { Connect } from "./client-context.ts";

/** Callbacks of a stream. */
export interface ClientStreamHost {
  /** Handles a message. The next one is passed on after {@link ClientStream.release}. */
  onMessage(message: Uint8Array): void;
  /** The server is reached. */
  onReached(): void;
  /** The wire accepts messages again. */
  onWritable(): void;
  onClosed(status: Status): void;
}

/**
 * One call of a client. It passes on one message at a time, and slows the server while a message is
 * consumed (C-ACK-13).
 */
export interface ClientStream {
  readonly reached: boolean;
  /** False while the wire is full. */
  writable: boolean;
  /** True if a response has come (C-GRPC-4). */
  responded: boolean;
  /** True if the next request has to carry the node. */
  nodeDue: boolean;
  /** The call. undefined: `open` has not returned yet, or the call is over. */
  readonly out: ByteStream | undefined;
  open(connect: Connect): void;
  /** Ends the consumption of a message, and passes on the next one. */
  release(): void;
  /** Closes the call; no further message is passed on. */
  close(status: Status): void;
}

/** Creates a stream that is not opened yet. */
export function createClientStream(host: ClientStreamHost): ClientStream {
  return new Stream(host);
}

class Stream implements ClientStream, ByteStreamHandler {
  readonly #host: ClientStreamHost;
  /**
   * Messages that came while another one was consumed. They are few, since the wire is paused then.
   */
  readonly #inbox: Uint8Array[] = [];
  #holding = false;
  #giving = false;
  #paused = false;
  #closed: Status | undefined;
  reached = false;
  writable = true;
  responded = false;
  nodeDue = true;
  out: ByteStream | undefined;

  constructor(host: ClientStreamHost) {
    this.#host = host;
  }

  open(connect: Connect): void {
    const out = connect(this);
    if (this.#closed !== undefined) {
      out.close(this.#closed);
      return;
    }
    this.out = out;
    if (this.#paused) out.pause?.();
    if (out.opening !== true) this.onOpened();
  }

  close(status: Status): void {
    const { out } = this;
    if (this.#isClosed()) return;
    this.#inbox.length = 0;
    if (out === undefined) this.onClosed(status);
    else out.close(status);
  }

  release(): void {
    this.#holding = false;
    this.#giveAll();
  }

  /** Copies the message: the sink may apply it later, and the wire uses its bytes again. */
  onMessage(message: Uint8Array): void {
    if (this.#isClosed()) return;
    this.#inbox.push(copyBytes(message));
    this.#giveAll();
  }

  onOpened(): void {
    if (this.#isClosed() || this.reached) return;
    this.reached = true;
    this.#host.onReached();
  }

  onDrained(): void {
    this.writable = true;
    if (!this.#isClosed()) this.#host.onWritable();
  }

  onClosed(status: Status): void {
    if (this.#isClosed()) return;
    this.#closed = status;
    this.out = undefined;
    this.#inbox.length = 0;
    this.#host.onClosed(status);
  }

  /** The server has ended its side, so the call is closed. */
  onEnd(): void {
    this.close({ code: StatusCode.OK, message: "the server has ended the stream" });
  }

  /**
   * Passes on the messages one at a time. A loop, so that any number of messages that are consumed
   * at once does not grow the stack. While a message is consumed the wire is paused.
   */
  #giveAll(): void {
    if (this.#giving) return;
    this.#giving = true;
    while (!this.#holding && this.#inbox.length > 0) this.#give();
    this.#giving = false;
    if (this.#isClosed()) return;
    if (this.#isHolding()) this.#pause();
    else this.#resume();
  }

  #give(): void {
    const message = this.#inbox.shift();
    if (message === undefined) return;
    this.#holding = true;
    this.#host.onMessage(message);
  }

  // Methods, not fields: TypeScript would keep the narrowed value of a field across a call that
  // changes it.

  #isClosed(): boolean {
    return this.#closed !== undefined;
  }

  #isHolding(): boolean {
    return this.#holding;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.out?.pause?.();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.out?.resume?.();
  }
}
