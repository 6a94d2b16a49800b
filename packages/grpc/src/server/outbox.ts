import type { ServerHttp2Stream } from "node:http2";
import type { Timer } from "@xdstp/core";
import type { GrpcContext } from "./grpc-context.ts";

/** The writing side of one call: one write per message, and a bounded queue (S-LIM-3). */
export interface Outbox {
  /** Queues bytes. false: the wire is full. */
  write(bytes: Uint8Array): boolean;
  /** The wire has room again. */
  drained(): void;
  /** Nothing more is written; from now on the peer has to read what is left. */
  end(): void;
  /** Forgets its timer. */
  stop(): void;
}

/** Whose outbox it is. */
export interface OutboxHost {
  /** The peer holds too much in the queue, or takes nothing for too long. */
  onStuck(reason: "queued-bytes" | "not-reading"): void;
}

/** An outbox of a stream. */
export function createOutbox(stream: ServerHttp2Stream, context: GrpcContext, host: OutboxHost): Outbox {
  return new StreamOutbox(stream, context, host);
}

class StreamOutbox implements Outbox {
  readonly #stream: ServerHttp2Stream;
  readonly #context: GrpcContext;
  readonly #host: OutboxHost;
  /** Size of the oldest message that may still be queued: the one in flight, which the limit leaves out. */
  #inFlightBytes = 0;
  #writtenBytes = 0;
  #timer: Timer | undefined;

  constructor(stream: ServerHttp2Stream, context: GrpcContext, host: OutboxHost) {
    this.#stream = stream;
    this.#context = context;
    this.#host = host;
  }

  write(bytes: Uint8Array): boolean {
    const queued = this.#stream.writableLength;
    if (queued === 0) this.#inFlightBytes = bytes.length;
    else if (queued + bytes.length - this.#inFlightBytes > this.#context.limits.maxQueuedBytes) {
      this.#host.onStuck("queued-bytes");
      return false;
    }
    this.#writtenBytes += bytes.length;
    const roomy = this.#stream.write(bytes);
    if (!roomy && this.#timer === undefined) this.#watch();
    return roomy;
  }

  drained(): void { this.stop(); }

  end(): void {
    if (this.#timer === undefined) this.#watch();
    this.#stream.end();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /** Reading anything is enough: the time runs anew when a message has left the queue. */
  #watch(): void {
    const gone = this.#writtenBytes - this.#stream.writableLength;
    this.#timer = this.#context.clock.after(this.#context.limits.stalledMs, () => {
      if (this.#writtenBytes - this.#stream.writableLength > gone) this.#watch();
      else this.#host.onStuck("not-reading");
    });
  }
}
