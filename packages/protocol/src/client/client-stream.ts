import { type ByteStream, type ByteStreamHandler, type Status, StatusCode } from "@xdstp/core";
import type { Connect } from "./client-context.ts";

/** Callbacks of a stream. */
export interface ClientStreamHost {
  /** A message. It is consumed when {@link ClientStream.release} is called; until then no other one is given. */
  onMessage(message: Buffer): void;
  /** The server is reached. */
  onReached(): void;
  /** The wire takes messages again. */
  onWritable(): void;
  onClosed(status: Status): void;
}

/** One call, as a client sees it: one message at a time, and the server is slowed while one is consumed (C-ACK-13). */
export interface ClientStream {
  readonly reached: boolean;
  /** false: the wire is full. */
  writable: boolean;
  /** A response has come (C-GRPC-4). */
  responded: boolean;
  /** The next request carries the node. */
  nodeDue: boolean;
  /** Absent until `open` has returned. */
  readonly out: ByteStream | undefined;
  open(connect: Connect): void;
  /** Gives the next message. */
  release(): void;
  /** Gives no further message. */
  close(status: Status): void;
}

/** A stream that has still to be opened. */
export function createClientStream(host: ClientStreamHost): ClientStream {
  return new Stream(host);
}

class Stream implements ClientStream, ByteStreamHandler {
  readonly #host: ClientStreamHost;
  /** Messages that came while one was consumed; the wire reads no more then, so they are few. */
  readonly #inbox: Buffer[] = [];
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

  /** Copied, since a sink may take it in later; the wire uses its bytes again. */
  onMessage(message: Uint8Array): void {
    if (this.#isClosed()) return;
    this.#inbox.push(Buffer.from(message));
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

  /** A server that has no more to say has ended the call. */
  onEnd(): void {
    this.close({ code: StatusCode.OK, message: "the server has ended the stream" });
  }

  /** One at a time. A message that is consumed at once is followed by the next one here, for any number of messages; a slower reader makes the wire wait. */
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

  // Methods, since a call made in between may have changed it.

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
