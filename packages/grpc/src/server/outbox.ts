import type { ServerHttp2Stream } from "node:http2";
import type { Timer } from "@xdstp/core";
import type { GrpcContext } from "./grpc-context.ts";
import { stallTimer } from "../wire/deadlines.ts";
import type { WireMeter } from "./wire-meter.ts";

/** The writing side of one call: one write per message, and a bounded queue (S-LIM-3). */
export interface Outbox {
  /** Queues bytes. Returns false if the wire is full. */
  write(bytes: Uint8Array): boolean;
  /** Called when the wire has room again. */
  drained(): void;
  /** Ends writing. From now on the peer has to read what is queued. */
  end(): void;
  /** Cancels the timer. */
  stop(): void;
}

/** The call of an outbox. */
export interface OutboxHost {
  /** Called when the queue of the peer is too large, or the peer reads nothing for too long. */
  onStuck(reason: "queued-bytes" | "not-reading"): void;
}

/** Creates the outbox of a stream. */
export function createOutbox(
  stream: ServerHttp2Stream,
  meter: WireMeter,
  context: GrpcContext,
  host: OutboxHost,
): Outbox {
  return new StreamOutbox(stream, meter, context, host);
}

class StreamOutbox implements Outbox {
  readonly #stream: ServerHttp2Stream;
  readonly #meter: WireMeter;
  readonly #context: GrpcContext;
  readonly #host: OutboxHost;
  /**
   * The size of the oldest message that may still be queued: the one in flight, which the limit
   * does not include.
   */
  #inFlightBytes = 0;
  #timer: Timer | undefined;

  constructor(stream: ServerHttp2Stream, meter: WireMeter, context: GrpcContext, host: OutboxHost) {
    this.#stream = stream;
    this.#meter = meter;
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
    const roomy = this.#stream.write(bytes);
    if (!roomy && this.#timer === undefined) this.#watch();
    return roomy;
  }

  drained(): void {
    this.stop();
  }

  end(): void {
    if (this.#timer === undefined) this.#watch();
    this.#stream.end();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  /**
   * HTTP/2 may send the data of other calls of the connection first, so all bytes of the connection
   * count.
   */
  #watch(): void {
    const {
      clock,
      limits: { stalledMs, minBytesPerSecond },
    } = this.#context;
    this.#timer = stallTimer(clock, {
      ms: stalledMs,
      leastBytes: (minBytesPerSecond * stalledMs) / 1_000,
      moved: () => this.#meter.sentBytes,
      onStalled: () => {
        this.#host.onStuck("not-reading");
      },
    });
  }
}
