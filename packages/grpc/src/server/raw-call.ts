import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import {
  StatusCode,
  type ByteStream,
  type ByteStreamHandler,
  type Message,
  type Status,
  type Timer,
} from "@xdstp/core";
import type { Connection } from "./connection.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { isPeerFault, isPeerFaultCode, type StreamCut } from "./grpc-event.ts";
import { endRequest, rejectWithStatus, statusTrailers } from "./end-request.ts";
import { createInbox, type Inbox, type InboxHost } from "./inbox.ts";
import type { CallPeer } from "./method-router.ts";
import { createOutbox, type Outbox, type OutboxHost } from "./outbox.ts";
import { startDeadline } from "../wire/deadlines.ts";

/** The data of a call before it is accepted. */
export interface StreamCall {
  /** The method, `/package.Service/Method`, exactly as it was requested. */
  readonly path: string;
  /** The caller. */
  readonly peer: CallPeer;
  /** The request headers, names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /**
   * The client's deadline in milliseconds. The call ends when it has passed. Absent: no limit.
   */
  readonly deadlineMs?: number;
}

/** Accepts or rejects a call: returns a handler, or a status that rejects it. */
export type AcceptCall = (call: StreamCall, out: ByteStream) => ByteStreamHandler | Status;

/** The set of raw calls of a server. */
export interface RawCallHost {
  readonly context: GrpcContext;
  /** Called once, when a call is over. */
  closed(call: ByteStream, connection: Connection): void;
}

/** The stream and the connection of a raw call. */
export interface RawCallPlace {
  readonly stream: ServerHttp2Stream;
  readonly connection: Connection;
  readonly host: RawCallHost;
}

/**
 * Serves one streaming call on an HTTP/2 stream. Returns the byte stream, so that the server can
 * close it.
 */
export function openRawCall(place: RawCallPlace, call: StreamCall, accept: AcceptCall): ByteStream {
  place.connection.opensCall();
  const raw = new RawCall(place, call);
  raw.open(call, accept);
  return raw;
}

const responseHeaders = {
  ":status": 200,
  "content-type": "application/grpc",
  "grpc-accept-encoding": "identity",
};
const internalError: Status = { code: StatusCode.INTERNAL, message: "internal error" };
const late: Status = {
  code: StatusCode.DEADLINE_EXCEEDED,
  message: "the deadline of the call has passed",
};
const unread: Status = {
  code: StatusCode.RESOURCE_EXHAUSTED,
  message: "the client does not read what it was sent",
};
const unfinished: Status = {
  code: StatusCode.INVALID_ARGUMENT,
  message: "the client ended the call inside a message",
};

/**
 * The key under which a stream stores its call, so that all streams share their listeners: there
 * are many calls, and each would need six closures.
 */
const servedBy = Symbol("raw call");
type ServedStream = ServerHttp2Stream & { [servedBy]?: RawCall };

class RawCall implements ByteStream, InboxHost, OutboxHost {
  readonly #stream: ServerHttp2Stream;
  readonly #connection: Connection;
  readonly #host: RawCallHost;
  readonly #path: string;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  #handler: ByteStreamHandler | undefined;
  /** The status of the call, once it is decided. */
  #status: Status | undefined;
  #deadline: Timer | undefined;

  constructor({ stream, connection, host }: RawCallPlace, call: StreamCall) {
    const { context } = host;
    this.#stream = stream;
    this.#connection = connection;
    this.#host = host;
    this.#path = call.path;
    this.#inbox = createInbox(stream, connection, context, this);
    this.#outbox = createOutbox(stream, connection.meter, context, this);
    if (call.deadlineMs !== undefined)
      this.#deadline = startDeadline(context.clock, call.deadlineMs, () => {
        this.#cut("deadline", late);
      });
    (stream as ServedStream)[servedBy] = this;
    stream.on("drain", onDrain);
    stream.on("end", onEnd);
    stream.on("wantTrailers", onWantTrailers);
    stream.on("close", onClose);
  }

  open(call: StreamCall, accept: AcceptCall): void {
    this.#host.context.emit({
      kind: "stream-opened",
      peer: this.#connection.peer,
      path: this.#path,
    });
    let answer: ByteStreamHandler | Status;
    try {
      answer = accept(call, this);
    } catch (error) {
      this.#fault("accept", error);
      return;
    }
    if ("onMessage" in answer) this.#handler = answer;
    else this.close(answer);
    if (this.#status !== undefined) return;
    this.#respond();
    this.#stream.on("data", onData);
  }

  send(message: Message): boolean {
    if (this.#status !== undefined || this.#stream.closed || this.#stream.destroyed) return false;
    this.#respond();
    this.#host.context.counters.messagesSent += 1;
    return this.#outbox.write(message.enveloped);
  }

  pause(): void {
    this.#inbox.pause();
  }
  resume(): void {
    this.#inbox.resume();
  }

  close(status: Status): void {
    if (this.#status !== undefined) return;
    this.#end(status);
    if (isPeerFaultCode(status.code)) this.#connection.rejected();
  }

  #end(status: Status): void {
    this.#status = status;
    this.#inbox.stop();
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    if (stream.headersSent) this.#outbox.end();
    else rejectWithStatus(stream, status);
  }

  onMessage(message: Uint8Array): void {
    try {
      this.#handler?.onMessage(message);
    } catch (error) {
      this.#fault("onMessage", error);
    }
  }

  admits(length: number, prefix: Uint8Array): boolean | undefined {
    try {
      return this.#handler?.admits === undefined ? false : this.#handler.admits(length, prefix);
    } catch (error) {
      this.#fault("admits", error);
      return undefined;
    }
  }

  read(chunk: Buffer): void {
    this.#inbox.read(chunk);
  }

  onBad(reason: StreamCut, status: Status): void {
    this.#cut(reason, status);
  }

  onDrained(): void {
    this.#outbox.drained();
    if (this.#status !== undefined) return;
    try {
      this.#handler?.onDrained();
    } catch (error) {
      this.#fault("onDrained", error);
    }
  }

  onEnd(): void {
    // Node also emits `end` for a broken call; `close` follows with the reason.
    if (this.#status !== undefined || this.#stream.closed || this.#stream.destroyed) return;
    if (this.#inbox.inside) {
      this.#cut("malformed", unfinished);
      return;
    }
    if (this.#handler?.onEnd === undefined) {
      this.close({ code: StatusCode.OK, message: "" });
      return;
    }
    try {
      this.#handler.onEnd();
    } catch (error) {
      this.#fault("onEnd", error);
    }
  }

  onClosed(): void {
    const { context } = this.#host;
    const status = this.#status ?? this.#lost();
    this.#status = status;
    this.#deadline?.cancel();
    this.#inbox.stop();
    this.#outbox.stop();
    this.#host.closed(this, this.#connection);
    context.emit({ kind: "stream-closed", peer: this.#connection.peer, path: this.#path, status });
    try {
      this.#handler?.onClosed(status);
    } catch (error) {
      context.fault(`onClosed of ${this.#path}`, error);
    }
  }

  /** Returns the status of a call that neither side has ended in order. */
  #lost(): Status {
    const connection = this.#connection;
    if (connection.cutBy !== undefined)
      return {
        code: StatusCode.UNAVAILABLE,
        message: `the connection was cut: ${connection.cutBy}`,
      };
    if (!connection.alive)
      return { code: StatusCode.UNAVAILABLE, message: "the connection was lost" };
    return { code: StatusCode.CANCELLED, message: "the client reset the call" };
  }

  #respond(): void {
    const stream = this.#stream;
    if (!stream.headersSent && !stream.destroyed && !stream.closed)
      stream.respond(responseHeaders, { waitForTrailers: true });
  }

  sendTrailers(): void {
    const stream = this.#stream;
    if (stream.destroyed || stream.closed) return;
    stream.sendTrailers(statusTrailers(this.#status ?? internalError));
    endRequest(stream);
  }

  #fault(where: string, error: unknown): void {
    this.#host.context.fault(`${where} of ${this.#path}`, error);
    this.#cut("fault", internalError);
  }

  /** Ends a call that its peer still used: sends what was queued, then the status. */
  #cut(reason: StreamCut, status: Status): void {
    if (this.#status !== undefined) return;
    this.#tell(reason, status);
    this.#end(status);
  }

  /** Ends a call whose queue does not move: a status would have to wait behind the queue. */
  onStuck(reason: StreamCut): void {
    const stream = this.#stream;
    this.#status ??= unread;
    this.#tell(reason, unread);
    this.#inbox.stop();
    stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    stream.destroy();
  }

  #tell(reason: StreamCut, status: Status): void {
    const connection = this.#connection;
    const { context } = this.#host;
    context.count(reason);
    context.emit({ kind: "stream-cut", peer: connection.peer, path: this.#path, reason, status });
    if (isPeerFault(reason)) connection.rejected();
  }
}

function onData(this: ServedStream, chunk: Buffer): void {
  this[servedBy]?.read(chunk);
}
function onDrain(this: ServedStream): void {
  this[servedBy]?.onDrained();
}
function onEnd(this: ServedStream): void {
  this[servedBy]?.onEnd();
}
function onWantTrailers(this: ServedStream): void {
  this[servedBy]?.sendTrailers();
}
function onClose(this: ServedStream): void {
  this[servedBy]?.onClosed();
}
