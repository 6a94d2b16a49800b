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

/** Where a call lives. */
export interface CallPlace {
  readonly context: ChannelContext;
  readonly sessions: Sessions;
  /** Called once, when the call is over, before its handler is notified. */
  closed(): void;
}

/** A call, seen from its channel. */
export interface ClientCall extends ByteStream {
  /** Ends the call in order, whatever status its handler gets. */
  leave(status: Status): void;
}

/** A question to the peer whether more is on its way, with the state of the call when it was asked. */
interface Probe {
  readonly sent: number;
  readonly received: number;
  readonly waiting: ((isIdle: boolean) => void)[];
  isAnswered: boolean;
}

/** Begins a streaming call. Nothing of the handler is called before this returns. */
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
  /** Sent before there was a connection. */
  #waiting: Uint8Array[] = [];
  /** `send` has answered false, and `onDrained` is owed. */
  #full = false;
  #paused = false;
  /** Messages that were sent, and bytes of messages that were received. */
  #sent = 0;
  #received = 0;
  #probe: Probe | undefined;
  /** How this side ends the call, once it does. */
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

  /** There is no connection yet. */
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
   * The answer to a PING follows all that the peer has sent before. A peer that gets many of them without sending anything ends the connection (gRFC A8),
   * so there is none inside of a message, and one serves all who ask while nothing is sent or received.
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

  /** What the server still sends is thrown away. */
  leave(status: Status): void {
    this.#stop(status, (stream) => {
      stream.end();
      stream.resume();
    });
  }

  /** The connection is there. */
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

  /** The call is over. */
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
  /** There is one limit for all messages. */
  admits(): boolean {
    return false;
  }
  takeTurn(): boolean {
    return true;
  }
  leaveTurn(): void {
    /* no caller waits */
  }
  /** Half a message, and no more. */
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

  /** A message that has begun has to go on, as long as it is this side's turn to read. */
  #watch(): void {
    const { stalls } = this.#place.context;
    if (this.#reader.inside && !this.#paused) stalls.add(this);
    else stalls.remove(this);
  }

  /** The server has said all, so the call is over, whatever this side still had to say. Node ends what is read of a broken call too; there `close` tells why. */
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

  /** What does not leave, or is not answered, ends all the same. */
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

  /** The answer of the server cannot be used. */
  #fail(status: Status): void {
    if (this.#status !== undefined || this.#stream === undefined) return;
    this.#status = status;
    this.#reader.stop();
    reset(this.#stream);
  }

  /** Calls the handler, which must not throw; if it does, no other call is affected. */
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

/** Node sends no PING on a session that is closing; SETTINGS are answered too. Without a session the end of the call follows. */
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
