import type { ServerHttp2Stream } from "node:http2";
import { StatusCode, type Status, type Timer } from "@xdstp/core";
import type { Connection } from "./connection.ts";
import type { GrpcContext } from "./grpc-context.ts";
import type { StreamCut } from "./grpc-event.ts";
import { stallTimer } from "../wire/deadlines.ts";
import {
  createMessageReader,
  type MessageReader,
  type MessageReaderHost,
} from "../wire/message-reader.ts";

/** Receives what an inbox reads. */
export interface InboxHost extends Pick<MessageReaderHost, "onMessage" | "admits"> {
  /** Called when the call cannot continue. */
  onBad(reason: StreamCut, status: Status): void;
}

/** The reading side of one call: messages, their deadline, and their turn if they are large. */
export interface Inbox {
  /** True while a message is incomplete. */
  readonly inside: boolean;
  /** Reads a chunk. */
  read(chunk: Buffer): void;
  /** Reads no message until `resume`, which slows the client when its window is full. */
  pause(): void;
  resume(): void;
  /** Stops reading, and discards what still arrives. */
  stop(): void;
}

/** Creates the inbox of a stream. Reading does not wait for writing (B-STREAM-12). */
export function createInbox(
  stream: ServerHttp2Stream,
  connection: Connection,
  context: GrpcContext,
  host: InboxHost,
): Inbox {
  return new StreamInbox(stream, connection, context, host);
}

const slow: Status = {
  code: StatusCode.DEADLINE_EXCEEDED,
  message: "the message took too long to arrive",
};

class StreamInbox implements Inbox, MessageReaderHost {
  readonly #stream: ServerHttp2Stream;
  readonly #connection: Connection;
  readonly #context: GrpcContext;
  readonly #host: InboxHost;
  readonly #reader: MessageReader;
  #timer: Timer | undefined;
  /** The number of the message that the timer watches. */
  #timed = -1;
  #stopped = false;
  #paused = false;
  #proceed: (() => void) | undefined;

  constructor(
    stream: ServerHttp2Stream,
    connection: Connection,
    context: GrpcContext,
    host: InboxHost,
  ) {
    this.#stream = stream;
    this.#connection = connection;
    this.#context = context;
    this.#host = host;
    this.#reader = createMessageReader(context.limits, this);
  }

  get inside(): boolean {
    return this.#reader.inside;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#reader.stop();
    this.#watch();
    this.#stream.resume();
  }

  pause(): void {
    if (this.#stopped || this.#paused) return;
    this.#paused = true;
    this.#reader.pause();
    this.#stream.pause();
    this.#watch();
  }

  resume(): void {
    if (this.#stopped || !this.#paused) return;
    this.#paused = false;
    this.#reader.resume();
    if (this.#reader.waiting) return;
    this.#watch();
    this.#stream.resume();
  }

  onMessage(message: Uint8Array): void {
    this.#context.counters.messagesReceived += 1;
    this.#host.onMessage(message);
  }

  admits(length: number, prefix: Uint8Array): boolean | undefined {
    return this.#host.admits(length, prefix);
  }
  takeTurn(): boolean | undefined {
    return this.#connection.largeMessage.take(this.#granted);
  }
  leaveTurn(): void {
    this.#connection.largeMessage.leave(this.#granted);
  }
  reserve(bytes: number): boolean {
    return this.#connection.reserve(bytes);
  }
  onBad(reason: StreamCut, status: Status): void {
    this.#host.onBad(reason, status);
  }

  read(chunk: Buffer): void {
    this.#connection.credit(chunk.length);
    if (this.#stopped) return;
    const taken = this.#reader.push(chunk);
    if (this.#reader.waiting || this.#paused) {
      this.#stream.pause();
      if (taken < chunk.length) this.#stream.unshift(chunk.subarray(taken));
    }
    this.#watch();
  }

  /**
   * The connection identifies a waiting call by this function. It is created when first needed,
   * since few streams need it.
   */
  get #granted(): () => void {
    return (this.#proceed ??= (): void => {
      this.#reader.proceed();
      if (this.#paused) return;
      this.#watch();
      this.#stream.resume();
    });
  }

  /**
   * Starts or stops the timer. An incomplete message has to continue, unless this side has paused
   * it. All calls of a connection share its link, so all its bytes count.
   */
  #watch(): void {
    const watched = this.#reader.inside && !this.#reader.waiting && !this.#paused;
    if (watched && this.#timer !== undefined && this.#timed === this.#reader.count) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (!watched) return;
    this.#timed = this.#reader.count;
    const {
      clock,
      limits: { messageMs, minBytesPerSecond },
    } = this.#context;
    this.#timer = stallTimer(clock, {
      ms: messageMs,
      leastBytes: (minBytesPerSecond * messageMs) / 1_000,
      moved: () => this.#connection.meter.receivedBytes,
      onStalled: () => {
        this.#host.onBad("slow-message", slow);
      },
    });
  }
}
