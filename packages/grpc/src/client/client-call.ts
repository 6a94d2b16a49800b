import {
  constants,
  type ClientHttp2Stream,
  type Http2Session,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import {
  StatusCode,
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
  type Timer,
} from "@xdstp/core";
import {
  createMessageReader,
  type BadMessage,
  type MessageReader,
  type MessageReaderHost,
} from "../wire/message-reader.ts";
import { headProblem, statusIn, statusOfReset } from "./call-status.ts";
import type { ChannelContext } from "./channel-context.ts";
import type { Sessions } from "./sessions.ts";

/** The channel of a call. */
export interface CallPlace {
  readonly context: ChannelContext;
  readonly sessions: Sessions;
  /** Called once, when the call is over, before its handler is notified. */
  closed(): void;
}

/** A call, as its channel uses it. */
export interface ClientCall extends ByteStream {
  /** Ends the call in order; its handler receives this status. */
  leave(status: Status): void;
}

/** A probe of the peer, with the state of the call when it was sent. */
interface Probe {
  readonly sent: number;
  readonly received: number;
  readonly waiting: ((isIdle: boolean) => void)[];
  isAnswered: boolean;
}

/** Begins a streaming call. The handler is not called before this returns. */
export function openClientCall(
  place: CallPlace,
  path: string,
  headers: OutgoingHttpHeaders,
  handler: ByteStreamHandler,
): ClientCall {
  const call = new OpenCall(place, path, handler);
  void place.sessions.request(path, headers).then((answer) => {
    if ("failure" in answer) call.end(answer.failure);
    else call.begin(answer);
  });
  return call;
}

class OpenCall implements ClientCall, MessageReaderHost {
  readonly #place: CallPlace;
  readonly #path: string;
  readonly #handler: ByteStreamHandler;
  readonly #reader: MessageReader;
  #stream: ClientHttp2Stream | undefined;
  #session: Http2Session | undefined;
  /** Messages that were sent before there was a connection. */
  #waiting: Uint8Array[] = [];
  /** True if `send` has returned false, so `onDrained` has to be called. */
  #full = false;
  #paused = false;
  /** The number of sent messages, and of received bytes of messages. */
  #sent = 0;
  #received = 0;
  #probe: Probe | undefined;
  /** The status with which this side ends the call. */
  #status: Status | undefined;
  #answer: Status | undefined;
  #error: unknown;
  #grace: Timer | undefined;
  #over = false;

  constructor(place: CallPlace, path: string, handler: ByteStreamHandler) {
    const { maxMessageBytes } = place.context.limits;
    this.#place = place;
    this.#path = path;
    this.#handler = handler;
    this.#reader = createMessageReader(
      { maxMessageBytes, maxFirstMessageBytes: maxMessageBytes },
      this,
    );
  }

  /** True while there is no connection. */
  get opening(): boolean {
    return this.#stream === undefined && !this.#over;
  }

  send(message: Message): boolean {
    if (this.#status !== undefined || this.#over) return false;
    this.#sent += 1;
    if (this.#stream === undefined) {
      this.#waiting.push(message.enveloped);
      this.#full = true;
      return false;
    }
    return this.#write(this.#stream, message.enveloped);
  }

  pause(): void {
    if (this.#status !== undefined || this.#over || this.#paused) return;
    this.#paused = true;
    this.#reader.pause();
    this.#stream?.pause();
    this.#watch();
  }

  resume(): void {
    if (this.#status !== undefined || this.#over || !this.#paused) return;
    this.#paused = false;
    this.#reader.resume();
    this.#watch();
    this.#stream?.resume();
  }

  /**
   * The answer to a PING arrives after everything that the peer has sent before. A peer that
   * receives many PINGs without sending anything closes the connection (gRFC A8).
   * So no PING is sent inside of a message, and one PING answers all probes while nothing is sent
   * or received.
   */
  probe(onAnswer: (isIdle: boolean) => void): void {
    const stream = this.#stream;
    if (stream === undefined || this.#paused || this.#reader.inside) {
      onAnswer(false);
      return;
    }
    const known = this.#probe;
    if (known?.sent === this.#sent && known.received === this.#received) {
      if (known.isAnswered) onAnswer(true);
      else known.waiting.push(onAnswer);
      return;
    }
    const probe: Probe = {
      sent: this.#sent,
      received: this.#received,
      waiting: [onAnswer],
      isAnswered: false,
    };
    this.#probe = probe;
    pingOver(stream, (error) => {
      this.#answerProbe(probe, error === null);
    });
  }

  #answerProbe(probe: Probe, isAnswered: boolean): void {
    if (this.#over || this.#status !== undefined) return;
    if (isAnswered) probe.isAnswered = true;
    else if (this.#probe === probe) this.#probe = undefined;
    const isIdle =
      isAnswered && probe.received === this.#received && !this.#paused && !this.#reader.inside;
    for (const onAnswer of probe.waiting)
      this.#ask("probe", () => {
        onAnswer(isIdle);
      });
  }

  close(status: Status): void {
    if (status.code === StatusCode.OK) this.leave(status);
    else this.#stop(status, reset);
  }

  /** Ends the call in order, and discards what the server still sends. */
  leave(status: Status): void {
    this.#stop(status, (stream) => {
      stream.end();
      stream.resume();
    });
  }

  /** Called when the connection is ready. */
  begin(stream: ClientHttp2Stream): void {
    stream.on("error", (error) => {
      this.#error = error;
    });
    if (this.#status !== undefined) {
      reset(stream);
      return;
    }
    this.#stream = stream;
    this.#session = stream.session;
    stream.on("response", (headers: IncomingHttpHeaders) => {
      this.#onHead(headers);
    });
    stream.on("trailers", (trailers: IncomingHttpHeaders) => {
      this.#answer = statusIn(trailers) ?? this.#answer;
    });
    stream.on("end", () => {
      this.#onEnd(stream);
    });
    stream.on("drain", () => {
      this.#onDrain();
    });
    stream.on("close", () => {
      this.#onClose(stream);
    });
    if (this.#paused) stream.pause();
    stream.on("data", (chunk: Buffer) => {
      this.#onData(stream, chunk);
    });
    this.#ask("onOpened", () => {
      this.#handler.onOpened?.();
    });
    this.#flush(stream);
  }

  /** Called when the call is over. */
  end(status: Status): void {
    if (this.#over) return;
    this.#over = true;
    this.#status ??= status;
    this.#waiting = [];
    this.#grace?.cancel();
    this.#reader.stop();
    this.#watch();
    this.#place.closed();
    this.#ask("onClosed", () => {
      this.#handler.onClosed(this.#status ?? status);
    });
  }

  onMessage(message: Uint8Array): void {
    this.#ask("onMessage", () => {
      this.#handler.onMessage(message);
    });
  }
  /** All messages have the same limit. */
  admits(): boolean {
    return false;
  }
  takeTurn(): boolean {
    return true;
  }
  leaveTurn(): void {
    /** no other call waits */
  }
  /** Called when an incomplete message does not continue. */
  onStalled(): void {
    const { stalledMs } = this.#place.context.limits;
    this.#fail({
      code: StatusCode.DEADLINE_EXCEEDED,
      message: `the server has begun a message and sent nothing more of it for ${stalledMs / 1_000} s`,
    });
  }

  reserve(bytes: number): boolean {
    return this.#place.context.reserve(bytes);
  }

  onBad(reason: BadMessage, { code }: Status): void {
    const { maxMessageBytes } = this.#place.context.limits;
    const text = {
      "too-large": `it is larger than ${maxMessageBytes} bytes`,
      "partial-bytes": "too many unfinished messages of the server",
      compressed: "it is compressed, which was not offered",
      malformed: "it does not begin with the five bytes of gRPC",
    };
    this.#fail({
      code: reason === "malformed" || reason === "compressed" ? StatusCode.INTERNAL : code,
      message: `cannot read a message of the server: ${text[reason]}`,
    });
  }

  #write(stream: ClientHttp2Stream, bytes: Uint8Array): boolean {
    const roomy = !stream.destroyed && !stream.writableEnded && stream.write(bytes);
    this.#full = !roomy;
    return roomy;
  }

  #flush(stream: ClientHttp2Stream): void {
    let roomy = true;
    for (const bytes of this.#waiting) roomy = this.#write(stream, bytes);
    if (this.#waiting.length > 0 && roomy) this.#drained();
    this.#waiting = [];
  }

  #onDrain(): void {
    if (this.#full) this.#drained();
  }

  #drained(): void {
    this.#full = false;
    this.#ask("onDrained", () => {
      this.#handler.onDrained();
    });
  }

  #onHead(headers: IncomingHttpHeaders): void {
    this.#answer = statusIn(headers);
    const problem = this.#answer === undefined ? headProblem(headers) : undefined;
    if (problem !== undefined) this.#fail(problem);
  }

  #onData(stream: ClientHttp2Stream, chunk: Buffer): void {
    this.#place.sessions.received(stream);
    if (this.#status !== undefined) return;
    this.#received += chunk.length;
    const taken = this.#reader.push(chunk);
    if (this.#paused && taken < chunk.length) stream.unshift(chunk.subarray(taken));
    this.#watch();
  }

  /** Starts or stops the timer for an incomplete message. It runs only while the call is read. */
  #watch(): void {
    const { stalls } = this.#place.context;
    if (this.#reader.inside && !this.#paused) stalls.add(this);
    else stalls.remove(this);
  }

  /**
   * The server has sent everything, so the call is over, even if this side has not. Node also emits
   * `end` for a broken call; then `close` has the reason.
   */
  #onEnd(stream: ClientHttp2Stream): void {
    if (stream.closed || stream.destroyed) return;
    this.#answer ??= statusOfReset(constants.NGHTTP2_NO_ERROR);
    if (!stream.writableEnded) reset(stream);
  }

  #onClose(stream: ClientHttp2Stream): void {
    this.end(
      this.#answer ??
        this.#place.sessions.lost(this.#session, this.#error) ??
        statusOfReset(stream.rstCode),
    );
  }

  /** Ends the call. A timer ends it even if the frames cannot be sent, or are not answered. */
  #stop(status: Status, finish: (stream: ClientHttp2Stream) => void): void {
    if (this.#status !== undefined || this.#over) return;
    this.#status = status;
    this.#reader.stop();
    const stream = this.#stream;
    if (stream === undefined) {
      queueMicrotask(() => {
        this.end(status);
      });
      return;
    }
    const { clock, limits } = this.#place.context;
    this.#grace = clock.after(limits.closeGraceMs, () => {
      reset(stream);
    });
    finish(stream);
  }

  /** Ends the call because the response of the server is invalid. */
  #fail(status: Status): void {
    if (this.#status !== undefined || this.#stream === undefined) return;
    this.#status = status;
    this.#reader.stop();
    reset(this.#stream);
  }

  /** Calls the handler. An exception ends this call with INTERNAL, and affects no other call. */
  #ask(where: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#place.context.emit({ kind: "fault", where: `${where} of ${this.#path}`, error });
      this.#fail({
        code: StatusCode.INTERNAL,
        message: `the handler of the call failed in ${where}`,
      });
    }
  }
}

/**
 * Sends a PING. On a session that is closing, Node sends no PING; SETTINGS are answered too.
 * Without a session, the end of the call follows.
 */
function pingOver(stream: ClientHttp2Stream, onAnswer: (error: Error | null) => void): void {
  const { session } = stream;
  if (session === undefined || session.destroyed) return;
  if (session.closed) session.settings({}, onAnswer);
  else session.ping(onAnswer);
}

function reset(stream: ClientHttp2Stream): void {
  stream.resume();
  stream.close(constants.NGHTTP2_CANCEL);
}
