import { constants, type ServerHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ByteStream, Deadlines, PeerIdentity, Status, Timer } from "@xdstp/core";
import { ageTimer, type ConnectionAge, type Retirable } from "./connection-age.ts";
import type { ConnectionCut } from "./grpc-event.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { peerName, principalOf, verifiedIdentity } from "./identity-of.ts";
import {
  createPingGuard,
  type Keepalive,
  type KeptAlive,
  type PingGuard,
  probeSession,
} from "./keepalive.ts";
import { createTurn, type Turn } from "./turn.ts";
import { createWireMeter, type WireMeter } from "./wire-meter.ts";

/** One HTTP/2 connection, with the state that its calls share. */
export interface Connection extends Retirable {
  /** The IP address, the key of the limit of connections per peer. */
  readonly address: string;
  /**
   * The identity in the certificate, or else the IP address: the key of the limit of streams per
   * peer.
   */
  readonly principal: string;
  /**
   * From the verified certificate of the client. Absent without TLS, without a certificate, and
   * with an invalid one.
   */
  readonly identity: PeerIdentity | undefined;
  /** Address and port, for display. */
  readonly peer: string;
  /** The reason why it was cut, if it was. */
  readonly cutBy: ConnectionCut | undefined;
  /** True if neither side has ended it. */
  readonly alive: boolean;
  /** The number of open calls that Connect serves. */
  calls: number;
  /** The turn to read a message above the ordinary limit. */
  readonly largeMessage: Turn;
  /** Counts the bytes of the connection. */
  readonly meter: WireMeter;
  /**
   * Called when a call is opened that this server serves, so the connection is not idle any more.
   */
  opensCall(): void;
  /** Called when bytes of a message were received. */
  credit(bytes: number): void;
  /** A call with headers of `headerBytes` has arrived. Headers that are rejected are not content. */
  arrived(headerBytes: number): void;
  /**
   * Called when a call was rejected because of what the peer sent. Too many of these end the
   * connection.
   */
  rejected(): void;
  /**
   * Called when the time for the first call is over. A connection without a call is cut, or gets
   * the same time again if its link is slow.
   */
  missesCall(): void;
  /**
   * Called several times per second. Cuts a connection that keeps sending frames without content.
   * `now`: milliseconds of the clock. Returns the number of header blocks that HTTP/2 has rejected
   * since the last call.
   */
  look(now: number): number;
  /**
   * Reserves memory for unfinished messages; a negative number releases it. Returns false if the
   * limit is reached.
   */
  reserve(bytes: number): boolean;
  /** Ends the connection with all its calls, and sends the client the reason. */
  cut(reason: ConnectionCut): void;
  /** Does the same for a connection that was not admitted, without waiting for its end. */
  turnAway(reason: ConnectionCut): void;
  /** Accepts no new calls. The connection ends after the open calls, or after `graceMs`. */
  drain(graceMs: number, reason: ConnectionCut): void;
  /** The open streaming calls of this connection. */
  readonly streams: Set<ByteStream>;
}

/** HTTP/2 error codes of cuts that a client can act upon. All others are ENHANCE_YOUR_CALM. */
const codes: Readonly<Partial<Record<ConnectionCut, number>>> = {
  "no-certificate": constants.NGHTTP2_INADEQUATE_SECURITY,
};

/**
 * Cuts of connections whose peer did nothing wrong, but did not disconnect in time after a request
 * to do so.
 */
const graces: ReadonlySet<ConnectionCut> = new Set<ConnectionCut>([
  "drain-grace",
  "goaway-grace",
  "age-grace",
]);
const maxWaitingLargeMessages = 16;
/**
 * Credit per second: bytes without content, and calls that may be rejected. With a higher limit of
 * rejected calls, more are credited.
 */
export const emptyBytesPerSecond: number = 16 * 1024;
const rejectedCallsPerSecond = 20;
const secondsOfRejectedCalls = 50;
/**
 * The number of bytes that a header block counts as if HTTP/2 rejects it, however short it is: 88
 * references to a value of 4 KB in the HPACK table take 0.1 ms to read.
 */
export const rejectedBlockBytes: number = 64 * 1024;
/**
 * The minimum length of a rejected block. It bounds the count, since a peer may skip stream ids.
 */
const leastBlockBytes = 64;
const connectionWindowBytes = 4 * 1024 * 1024;

/** The set of connections of a server. */
export interface ConnectionHost {
  readonly context: GrpcContext;
  readonly keepalive: Keepalive;
  /**
   * Connections without a call. {@link Connection.missesCall} is called when their time is over.
   */
  readonly silent: Deadlines<Connection>;
  /** Absent: connections have no maximum age. */
  readonly age: ConnectionAge | undefined;
  /** Called once, when a connection is over. */
  closed(session: ServerHttp2Session, connection: Connection): void;
}

/** Begins to watch a session. */
export function createConnection(session: ServerHttp2Session, host: ConnectionHost): Connection {
  return new Watched(session, host);
}

/**
 * The key under which a session stores its connection, so that all sessions share their listeners:
 * a closure for each would take a fifth of the memory of an idle client.
 */
const watchedBy = Symbol("connection");
type WatchedSession = ServerHttp2Session & { [watchedBy]?: Watched };

class Watched implements Connection, KeptAlive {
  readonly address: string;
  readonly principal: string;
  readonly identity: PeerIdentity | undefined;
  readonly peer: string;
  cutBy: ConnectionCut | undefined;
  calls = 0;
  readonly session: ServerHttp2Session;
  readonly #host: ConnectionHost;
  readonly meter: WireMeter;
  #pings: PingGuard | undefined;
  #largeMessage: Turn | undefined;
  /** The number of received bytes when the time for the first call began. */
  #silentFrom: number;
  #grace: Timer | undefined;
  #age: Timer | undefined;
  #streams: Set<ByteStream> | undefined;
  #partialBytes = 0;
  #rejectedCalls = 0;
  #contentBytes = 0;
  /**
   * Received bytes without content, minus the credit since; at least minus the credit of one
   * second.
   */
  #emptyBytes = -emptyBytesPerSecond;
  /** The number of calls that HTTP/2 has passed on. */
  #arrivedCalls = 0;
  #atLook: { ms: number; received: number; content: number; sent: number; calls: number };

  constructor(session: WatchedSession, host: ConnectionHost) {
    const { context, keepalive, silent, age } = host;
    const { socket } = session;
    this.address = socket.remoteAddress ?? "unknown";
    this.identity = verifiedIdentity(socket as TLSSocket);
    this.principal = principalOf(this.identity, this.address);
    this.peer = peerName(socket);
    this.session = session;
    this.#host = host;
    this.meter = createWireMeter(session);
    this.#atLook = { ms: context.clock.now(), received: 0, content: 0, sent: 0, calls: 0 };
    this.#silentFrom = this.meter.receivedBytes;
    silent.add(this);
    keepalive.start(this);
    this.#age = ageTimer(this, context, age);
    session[watchedBy] = this;
    session.on("error", onError);
    session.on("ping", onPing);
    session.on("remoteSettings", onSettings);
    session.on("goaway", onGoaway);
    session.on("close", onClose);
    session.setLocalWindowSize(connectionWindowBytes);
  }

  /** Created when first needed, since few of the many connections need it. */
  get largeMessage(): Turn {
    return (this.#largeMessage ??= createTurn(maxWaitingLargeMessages));
  }

  get streams(): Set<ByteStream> {
    return (this.#streams ??= new Set());
  }

  get alive(): boolean {
    return !this.session.destroyed && !this.session.socket.destroyed;
  }

  opensCall(): void {
    this.#host.silent.remove(this);
  }

  missesCall(): void {
    const { minBytesPerSecond, firstMessageMs } = this.#host.context.limits;
    const { receivedBytes } = this.meter;
    if (receivedBytes - this.#silentFrom < (minBytesPerSecond * firstMessageMs) / 1_000) {
      this.cut("silent");
      return;
    }
    this.#silentFrom = receivedBytes;
    this.#host.silent.add(this);
  }

  credit(bytes: number): void {
    this.#contentBytes += bytes;
  }

  arrived(headerBytes: number): void {
    this.#arrivedCalls += 1;
    if (headerBytes <= this.#host.context.limits.headerListBytes) this.credit(headerBytes);
  }

  rejected(): void {
    this.#rejectedCalls += 1;
    if (this.#rejectedCalls > this.#host.context.limits.rejectedCalls) this.cut("rejected-calls");
  }

  look(now: number): number {
    const { limits } = this.#host.context;
    const before = this.#atLook;
    const seconds = (now - before.ms) / 1_000;
    before.ms = now;
    const back = Math.max(rejectedCallsPerSecond, limits.rejectedCalls / secondsOfRejectedCalls);
    this.#rejectedCalls = Math.max(0, this.#rejectedCalls - back * seconds);
    const { receivedBytes } = this.meter;
    const came = receivedBytes - before.received;
    before.received = receivedBytes;
    this.#addEmptyBytes(-emptyBytesPerSecond * seconds);
    return came === 0 ? 0 : this.#weigh(came);
  }

  /**
   * Credits content twice, since small frames have large headers, and a quarter of the sent bytes,
   * since reading causes frames too.
   */
  #weigh(came: number): number {
    const { sentBytes } = this.meter;
    const before = this.#atLook;
    const credited = 2 * (this.#contentBytes - before.content) + (sentBytes - before.sent) / 4;
    before.content = this.#contentBytes;
    before.sent = sentBytes;
    const rejected = this.#rejectedBlocks(came);
    this.#addEmptyBytes(came - credited);
    this.#addEmptyBytes(rejected * rejectedBlockBytes);
    if (this.#emptyBytes > this.#host.context.limits.emptyBytes) this.cut("no-content");
    return rejected;
  }

  #addEmptyBytes(bytes: number): void {
    this.#emptyBytes = Math.max(-emptyBytesPerSecond, this.#emptyBytes + bytes);
  }

  /**
   * Returns the number of header blocks that HTTP/2 has rejected. Node does not report them. Each
   * has opened a stream that was not passed on. On a session that is closing, valid calls are not
   * passed on either.
   */
  #rejectedBlocks(came: number): number {
    const { session } = this;
    if (session.destroyed || session.closed) return 0;
    const calls = ((session.state.lastProcStreamID ?? 0) + 1) / 2;
    const before = this.#atLook;
    const rejected = calls - before.calls - this.#arrivedCalls;
    before.calls = calls;
    this.#arrivedCalls = 0;
    return Math.max(0, Math.min(rejected, Math.floor(came / leastBlockBytes)));
  }

  lost(): void {
    this.cut("ping-timeout");
  }

  reserve(bytes: number): boolean {
    if (bytes > 0 && this.#partialBytes + bytes > this.#host.context.limits.maxPartialBytes)
      return false;
    this.#partialBytes += bytes;
    return true;
  }

  cut(reason: ConnectionCut): void {
    if (this.session.destroyed) return;
    this.cutBy = reason;
    this.#host.context.count(reason);
    const detail =
      reason === "no-certificate"
        ? (this.session.socket as TLSSocket).authorizationError
        : undefined;
    this.#host.context.emit({
      kind: "connection-cut",
      peer: this.peer,
      reason,
      ...(detail === undefined ? {} : { detail: String(detail) }),
    });
    const code = graces.has(reason)
      ? constants.NGHTTP2_NO_ERROR
      : (codes[reason] ?? constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // Without an error Node drops the code. Every session and stream has a listener for it.
    this.session.destroy(new Error(`cut: ${reason}`), code);
  }

  turnAway(reason: ConnectionCut): void {
    this.cut(reason);
    this.#calm();
  }

  drain(graceMs: number, reason: ConnectionCut): void {
    this.#grace?.cancel();
    this.#grace = this.#host.context.clock.after(graceMs, () => {
      this.cut(reason);
    });
    this.session.close();
  }

  retire(ms: number, status: Status, graceMs: number, reason: ConnectionCut): void {
    if (this.session.destroyed) return;
    this.#grace?.cancel();
    this.#age?.cancel();
    this.#grace = this.#host.context.clock.after(ms, () => {
      for (const stream of this.#streams ?? []) stream.close(status);
      this.drain(graceMs, reason);
    });
    this.session.close();
  }

  /**
   * Called when HTTP/2 itself has ended the connection. Errors of the socket, of the client and of
   * `cut` have other codes.
   */
  failed({ code, message }: NodeJS.ErrnoException): void {
    if (code !== "ERR_HTTP2_ERROR" && code !== "ERR_HTTP2_TOO_MANY_INVALID_FRAMES") return;
    this.cutBy = "protocol-error";
    this.#host.context.count("protocol-error");
    this.#host.context.emit({
      kind: "connection-cut",
      peer: this.peer,
      reason: "protocol-error",
      detail: message,
    });
  }

  ping(): void {
    this.meter.pinged();
    const { clock, limits } = this.#host.context;
    this.#pings ??= createPingGuard(clock, limits.minPingIntervalMs, this.meter);
    if (!this.#pings.ping()) this.cut("ping-flood");
  }

  /**
   * Called when the client opens no more calls. Open calls stay. A connection without calls ends by
   * itself.
   */
  goaway(): void {
    if (this.session.destroyed || this.#grace !== undefined) return;
    this.session.close();
    this.#awaitCalls();
  }

  /**
   * After a GOAWAY of the peer, Node does not report a protocol violation of the peer: the session
   * stays open, and neither reads nor writes.
   * A session that reads the answer to a probe, or that writes, is alive.
   */
  #awaitCalls(): void {
    const { sentBytes } = this.meter;
    let isAnswered = false;
    probeSession(this.session, this.meter, () => {
      isAnswered = true;
    });
    this.#grace = this.#host.context.clock.after(this.#host.context.limits.goawayGraceMs, () => {
      const hasCalls = (this.#streams?.size ?? 0) + this.calls > 0;
      if (hasCalls && (isAnswered || this.meter.sentBytes > sentBytes)) this.#awaitCalls();
      else this.cut("goaway-grace");
    });
  }

  closed(): void {
    this.#calm();
    this.#host.closed(this.session, this);
  }

  /**
   * Cancels all timers. The session reports its end later, in some versions of Node after its
   * server has ended.
   */
  #calm(): void {
    this.#host.keepalive.stop(this);
    this.#host.silent.remove(this);
    this.#grace?.cancel();
    this.#age?.cancel();
  }
}

function onSettings(this: WatchedSession): void {
  this[watchedBy]?.meter.settled();
}
function onPing(this: WatchedSession): void {
  this[watchedBy]?.ping();
}
function onGoaway(this: WatchedSession): void {
  this[watchedBy]?.goaway();
}

/** The listener stays, since Node emits the end of a session once. */
function onClose(this: WatchedSession): void {
  this[watchedBy]?.closed();
}

/** Without a listener the process would end. Sockets have listeners of the server. */
function onError(this: WatchedSession, error: NodeJS.ErrnoException): void {
  this[watchedBy]?.failed(error);
}
