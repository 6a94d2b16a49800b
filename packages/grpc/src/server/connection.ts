import { constants, type ServerHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import type { ByteStream, Deadlines, PeerIdentity, Status, Timer } from "@xdstp/core";
import { ageTimer, type ConnectionAge, type Retirable } from "./connection-age.ts";
import type { ConnectionCut } from "./grpc-event.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { identityOf, peerName, principalOf } from "./identity-of.ts";
import {
  createPingGuard,
  type Keepalive,
  type KeptAlive,
  type PingGuard,
  probeSession,
} from "./keepalive.ts";
import { createTurn, type Turn } from "./turn.ts";
import { createWireMeter, type WireMeter } from "./wire-meter.ts";

/** One HTTP/2 connection, with what its calls share. */
export interface Connection extends Retirable {
  /** IP address, the key of the limit of connections per peer. */
  readonly address: string;
  /** Who it is by its certificate, or else its IP address: the key of the limit of streams per peer. */
  readonly principal: string;
  /** From the verified certificate of the client; absent without TLS, without a certificate, and with one that does not hold. */
  readonly identity: PeerIdentity | undefined;
  /** Address and port, for people. */
  readonly peer: string;
  /** Why it was cut, once it is. */
  readonly cutBy: ConnectionCut | undefined;
  /** Neither side has ended it. */
  readonly alive: boolean;
  /** Open calls that Connect serves. */
  calls: number;
  /** Whose turn it is to read a message above the ordinary limit. */
  readonly largeMessage: Turn;
  /** What moves on the connection. */
  readonly meter: WireMeter;
  /** A call that this server serves is open: the connection is not a silent one any more. */
  opensCall(): void;
  /** Bytes of a message were received. */
  credit(bytes: number): void;
  /** A call with headers of `headerBytes` has arrived. Headers that are rejected are not content. */
  arrived(headerBytes: number): void;
  /** A call was rejected for what the peer sent. Too many of them end the connection. */
  rejected(): void;
  /** The time for the first call is over. A connection that has none is cut, or gets the same time again if its link is slow. */
  missesCall(): void;
  /** Called some times a second: ends a connection that goes on sending what carries nothing. `now`: milliseconds of the clock. Returns the header blocks since the last look that HTTP/2 has rejected. */
  look(now: number): number;
  /** Memory of unfinished messages; negative gives back. false: the limit is reached. */
  reserve(bytes: number): boolean;
  /** Tells the client why and ends the connection with all its calls. */
  cut(reason: ConnectionCut): void;
  /** The same for one that was not admitted: nothing waits for its end. */
  turnAway(reason: ConnectionCut): void;
  /** Takes no new calls, and ends when the open ones have, or after `graceMs`. */
  drain(graceMs: number, reason: ConnectionCut): void;
  /** A streaming call of this connection is open. */
  readonly streams: Set<ByteStream>;
}

/** HTTP/2 error codes of cuts that a client can act upon; all others are ENHANCE_YOUR_CALM. */
const codes: Readonly<Partial<Record<ConnectionCut, number>>> = {
  "no-certificate": constants.NGHTTP2_INADEQUATE_SECURITY,
};

/** The peer of such a connection did nothing wrong. It was asked to leave, and stayed. */
const graces: ReadonlySet<ConnectionCut> = new Set<ConnectionCut>([
  "drain-grace",
  "goaway-grace",
  "age-grace",
]);
const maxWaitingLargeMessages = 16;
/** Credit per second: bytes that may carry no content, and calls that may be rejected. A higher limit of rejected calls brings back more. */
export const emptyBytesPerSecond: number = 16 * 1024;
const rejectedCallsPerSecond = 20;
const secondsOfRejectedCalls = 50;
/** The bytes that a header block counts as which HTTP/2 rejects, however short it is: 88 references to a value of 4 KB in the table of HPACK take 0.1 ms to read. */
export const rejectedBlockBytes: number = 64 * 1024;
/** No block that is rejected is shorter: a peer may leave out ids of streams. */
const leastBlockBytes = 64;
const connectionWindowBytes = 4 * 1024 * 1024;

/** Who holds connections. */
export interface ConnectionHost {
  readonly context: GrpcContext;
  readonly keepalive: Keepalive;
  /** Connections without a call; {@link Connection.missesCall} is called for those that are due. */
  readonly silent: Deadlines<Connection>;
  /** Absent: a connection may become as old as it likes. */
  readonly age: ConnectionAge | undefined;
  /** Called once, when a connection is over. */
  closed(session: ServerHttp2Session, connection: Connection): void;
}

/** Begins to watch over a session. */
export function createConnection(session: ServerHttp2Session, host: ConnectionHost): Connection {
  return new Watched(session, host);
}

/** Where a session keeps its connection, so that all share their listeners: a closure for each would take a fifth of the memory of an idle client. */
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
  /** Bytes received when the time for the first call began. */
  #silentFrom: number;
  #grace: Timer | undefined;
  #age: Timer | undefined;
  #streams: Set<ByteStream> | undefined;
  #partialBytes = 0;
  #rejectedCalls = 0;
  #contentBytes = 0;
  /** Bytes received that carried nothing, less what has come back since; down to what comes back in a second. */
  #emptyBytes = -emptyBytesPerSecond;
  /** Calls that HTTP/2 has handed over. */
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

  /** Made when first wanted: few connections ever do, and there are many. */
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

  /** Content is credited twice, since small frames have large heads, and a quarter of what was sent, since reading takes frames too. */
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

  /** Node does not report which header blocks it rejects. Each has opened a stream that was not handed over. On a session that is closing, good calls are not handed over either. */
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
    // Without an error Node drops the code. Every session and stream listens for it.
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

  /** HTTP/2 itself has ended it. What a socket, the client or `cut` ends with has another code. */
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

  /** The client opens no more calls. Those that are open are in use, and stay. A connection without calls ends by itself. */
  goaway(): void {
    if (this.session.destroyed || this.#grace !== undefined) return;
    this.session.close();
    this.#awaitCalls();
  }

  /**
   * After a GOAWAY of the peer, Node reports no violation of the protocol by it: the session stays open, and neither reads nor writes.
   * A session that reads the answer to a probe, or writes, is alive.
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

  /** Nothing is waited for any more. The session tells of its end later, on some versions of Node after its server has ended. */
  #calm(): void {
    this.#host.keepalive.stop(this);
    this.#host.silent.remove(this);
    this.#grace?.cancel();
    this.#age?.cancel();
  }
}

/** A certificate that does not hold counts as none, also where showing one is optional (CVE-2026-101916). */
function verifiedIdentity(socket: TLSSocket): PeerIdentity | undefined {
  const certificate =
    (socket.authorized as boolean | undefined) === true
      ? socket.getPeerX509Certificate()
      : undefined;
  return certificate === undefined ? undefined : identityOf(certificate);
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

/** The listener stays: Node tells the end of a session once. */
function onClose(this: WatchedSession): void {
  this[watchedBy]?.closed();
}

/** Without a listener the process would end. Sockets have theirs from the server. */
function onError(this: WatchedSession, error: NodeJS.ErrnoException): void {
  this[watchedBy]?.failed(error);
}
