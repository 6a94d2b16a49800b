import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Deadlines, PeerIdentity, Status, Timer } from "@xdstp/core";
import { ageTimer, type ConnectionAge, type Retirable } from "./connection-age.ts";
import type { GrpcContext } from "./grpc-context.ts";
import type { ConnectionCut } from "./grpc-event.ts";
import { peerName, principalOf, verifiedIdentity } from "./identity-of.ts";

/** One HTTP/1.1 connection. */
export interface Http1Connection extends Retirable {
  readonly socket: Socket | TLSSocket;
  /** The IP address, the key of the limit of connections per peer. */
  readonly address: string;
  /** The key of the limit of calls per peer. */
  readonly principal: string;
  /** From the verified certificate of the client. */
  readonly identity: PeerIdentity | undefined;
  /** Address and port, for display. */
  readonly peer: string;
  /** The number of requests that are served; more than one if the client pipelines. */
  calls: number;
  /** Called when a request was received up to its body. */
  opensCall(response: ServerResponse): void;
  /** Called when the response of such a request is over. */
  endsCall(response: ServerResponse): void;
  /**
   * Called when no request came in time: the first one, for which the connection is cut, or the
   * next one, after which it ends in order.
   */
  missesCall(): void;
  /**
   * Ends the connection with all its requests. Sends `answer`, a status line without the version,
   * if no response is open.
   */
  cut(reason: ConnectionCut, answer?: string): void;
  /** Does the same for a connection that was not admitted. */
  turnAway(reason: ConnectionCut): void;
  /** Ends the connection after the responses to open requests, or after `graceMs`. */
  drain(graceMs: number, reason: ConnectionCut): void;
}

/** The set of connections of a server. */
export interface Http1Host {
  readonly context: GrpcContext;
  /** Connections without a request so far. */
  readonly silent: Deadlines<Http1Connection>;
  /** Connections that were answered, and wait for the next request. */
  readonly idle: Deadlines<Http1Connection>;
  /** Absent: connections have no maximum age. */
  readonly age: ConnectionAge | undefined;
  /** Called once, when a connection is over. */
  closed(connection: Http1Connection): void;
}

/** Begins to watch a connection. */
export function createHttp1Connection(
  socket: Socket | TLSSocket,
  host: Http1Host,
): Http1Connection {
  return new Watched(socket, host);
}

class Watched implements Http1Connection {
  readonly socket: Socket | TLSSocket;
  readonly address: string;
  readonly principal: string;
  readonly identity: PeerIdentity | undefined;
  readonly peer: string;
  calls = 0;
  readonly #host: Http1Host;
  readonly #responses = new Set<ServerResponse>();
  #isAnswered = false;
  #isClosing = false;
  #grace: Timer | undefined;
  #age: Timer | undefined;

  constructor(socket: Socket | TLSSocket, host: Http1Host) {
    this.socket = socket;
    this.#host = host;
    this.address = socket.remoteAddress ?? "unknown";
    this.identity = verifiedIdentity(socket as TLSSocket);
    this.principal = principalOf(this.identity, this.address);
    this.peer = peerName(socket);
    host.silent.add(this);
    this.#age = ageTimer(this, host.context, host.age);
    socket.once("close", () => {
      this.#calm();
      host.closed(this);
    });
  }

  opensCall(response: ServerResponse): void {
    this.#host.silent.remove(this);
    this.#host.idle.remove(this);
    this.#isAnswered = true;
    this.#responses.add(response);
    if (this.#isClosing) response.shouldKeepAlive = false;
  }

  endsCall(response: ServerResponse): void {
    this.#responses.delete(response);
    if (this.#responses.size > 0 || this.socket.destroyed) return;
    if (this.#isClosing) this.socket.destroySoon();
    else this.#host.idle.add(this);
  }

  missesCall(): void {
    if (this.#isAnswered) this.socket.destroy();
    else this.cut("silent", "408 Request Timeout");
  }

  cut(reason: ConnectionCut, answer?: string): void {
    const { socket } = this;
    if (socket.destroyed) return;
    const { context } = this.#host;
    context.count(reason);
    const detail =
      reason === "no-certificate" ? (socket as TLSSocket).authorizationError : undefined;
    context.emit({
      kind: "connection-cut",
      peer: this.peer,
      reason,
      ...(detail === undefined ? {} : { detail: String(detail) }),
    });
    if (answer !== undefined && this.#responses.size === 0) {
      socket.write(`HTTP/1.1 ${answer}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      socket.destroySoon();
    } else socket.destroy();
  }

  turnAway(reason: ConnectionCut): void {
    this.cut(reason);
    this.#calm();
  }

  drain(graceMs: number, reason: ConnectionCut): void {
    this.#isClosing = true;
    this.#grace?.cancel();
    this.#grace = undefined;
    if (this.#responses.size === 0) {
      this.socket.destroySoon();
      return;
    }
    for (const response of this.#responses) response.shouldKeepAlive = false;
    this.#grace = this.#host.context.clock.after(graceMs, () => {
      this.cut(reason);
    });
  }

  retire(ms: number, _status: Status, graceMs: number, reason: ConnectionCut): void {
    this.#age?.cancel();
    this.drain(ms + graceMs, reason);
  }

  #calm(): void {
    this.#host.silent.remove(this);
    this.#host.idle.remove(this);
    this.#grace?.cancel();
    this.#age?.cancel();
  }
}
