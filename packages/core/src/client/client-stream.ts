import type { ByteStream, ByteStreamHandler } from "../byte-stream.ts";
import { StatusCode, type Status } from "../status.ts";
import type { Connect } from "./client-context.ts";

/** What a stream tells the client end. */
export interface ClientStreamHost {
  /** A message. It is taken in when {@link ClientStream.release} is called; until then no other one is given. */
  onMessage(message: Buffer): void;
  /** The server is reached. */
  onReached(): void;
  /** The wire takes messages again. */
  onWritable(): void;
  onClosed(status: Status): void;
}

/** One call, as a client end sees it: one message at a time, and the server is slowed while one is taken in (C-ACK-13). */
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
  close(status: Status): void;
}

/** A stream that has still to be opened. */
export function createClientStream(host: ClientStreamHost): ClientStream {
  return new Stream(host);
}

class Stream implements ClientStream, ByteStreamHandler {
  readonly #host: ClientStreamHost;
  /** What was handed over while a message was taken in; the wire reads no more then, so it is little. */
  readonly #inbox: Buffer[] = [];
  #holding = false;
  #paused = false;
  #closed = false;
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
    if (this.#isClosed()) return;
    this.out = out;
    if (out.opening !== true) this.onOpened();
  }

  close(status: Status): void {
    const { out } = this;
    if (this.#closed) return;
    if (out === undefined) this.onClosed(status);
    else out.close(status);
  }

  release(): void {
    this.#holding = false;
    this.#next();
  }

  onMessage(message: Uint8Array): void {
    if (this.#closed) return;
    if (this.#holding) { this.#inbox.push(Buffer.from(message)); return; }
    this.#give(Buffer.from(message.buffer, message.byteOffset, message.length));
    if (this.#isHolding()) this.#pause();
  }

  onOpened(): void {
    if (this.#closed || this.reached) return;
    this.reached = true;
    this.#host.onReached();
  }

  onDrained(): void {
    this.writable = true;
    if (!this.#closed) this.#host.onWritable();
  }

  onClosed(status: Status): void {
    if (this.#closed) return;
    this.#closed = true;
    this.out = undefined;
    this.#inbox.length = 0;
    this.#host.onClosed(status);
  }

  /** A server that has no more to say has ended the call. */
  onEnd(): void {
    this.close({ code: StatusCode.OK, message: "the server has ended the stream" });
  }

  // Methods, since a call made in between may have changed it.

  #isClosed(): boolean {
    return this.#closed;
  }

  #isHolding(): boolean {
    return this.#holding;
  }

  #give(message: Buffer): void {
    this.#holding = true;
    this.#host.onMessage(message);
  }

  #next(): void {
    if (this.#isClosed() || this.#holding) return;
    const message = this.#inbox.shift();
    if (message !== undefined) this.#give(message);
    else if (this.#paused) this.#resume();
  }

  #pause(): void {
    if (this.#paused || this.#closed) return;
    this.#paused = true;
    this.out?.pause?.();
  }

  #resume(): void {
    this.#paused = false;
    this.out?.resume?.();
  }
}
