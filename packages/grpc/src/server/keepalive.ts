import type { ServerHttp2Session } from "node:http2";
import { type Clock, createDeadlines } from "@xdstp/core";
import type { WireMeter } from "./wire-meter.ts";

/** The times of {@link createKeepalive}, in milliseconds, and the least rate of a slow link. */
interface KeepaliveTimes {
  readonly pingMs: number;
  readonly pingTimeoutMs: number;
  readonly minBytesPerSecond: number;
}

/** A connection that is kept alive. */
export interface KeptAlive {
  readonly session: ServerHttp2Session;
  readonly meter: WireMeter;
  /** Called when nothing was received in time. */
  lost(): void;
}

/** Pings the open connections of a server. */
export interface Keepalive {
  start(connection: KeptAlive): void;
  stop(connection: KeptAlive): void;
}

/**
 * Creates a keepalive that uses two timers for any number of connections.
 *
 * Any received byte answers a ping, as in gRPC: on a slow link the ping and its answer wait behind
 * megabytes in the buffers of the socket, while WINDOW_UPDATE frames keep arriving. A client with a
 * large window sends such a frame only after half of the window.
 * So the bytes that a client reads also answer a ping, if they reach the minimum rate. A lost peer
 * reads nothing: only the buffers of the socket are filled.
 */
export function createKeepalive(clock: Clock, times: KeepaliveTimes): Keepalive {
  const leastSent = (times.minBytesPerSecond * times.pingTimeoutMs) / 1_000;
  const atPing = new Map<KeptAlive, Moved>();
  const rest = (connection: KeptAlive): void => {
    atPing.delete(connection);
    resting.add(connection);
  };
  const resting = createDeadlines<KeptAlive>(clock, times.pingMs, (connection) => {
    if (connection.session.destroyed) return;
    atPing.set(connection, movedOn(connection));
    asked.add(connection);
    probeSession(connection.session, connection.meter, () => {
      if (asked.remove(connection)) rest(connection);
    });
  });
  const asked = createDeadlines<KeptAlive>(clock, times.pingTimeoutMs, (connection) => {
    const [before, now] = [atPing.get(connection), movedOn(connection)];
    const isAlive =
      before !== undefined &&
      (now.received > before.received || now.sent - before.sent >= leastSent);
    if (isAlive) rest(connection);
    else connection.lost();
  });
  return {
    start(connection) {
      resting.add(connection);
    },
    stop(connection) {
      resting.remove(connection);
      asked.remove(connection);
      atPing.delete(connection);
    },
  };
}

/** Bytes that a connection has sent and received so far. */
interface Moved {
  readonly received: number;
  readonly sent: number;
}

function movedOn({ meter }: KeptAlive): Moved {
  return { received: meter.receivedBytes, sent: meter.sentBytes };
}

/**
 * Probes whether the peer of a session is alive; `onAnswer` is called when its answer has been read.
 *
 * The probe is a PING. On a session that is closing it is a SETTINGS frame without content, since Node sends no PING there. A session that is destroyed is not probed.
 */
export function probeSession(
  session: ServerHttp2Session,
  meter: WireMeter,
  onAnswer: () => void,
): void {
  const answered = (error: Error | null): void => {
    if (error === null) onAnswer();
  };
  if (session.destroyed) return;
  if (session.closed) {
    meter.settled();
    session.settings({}, answered);
  } else {
    meter.pinged();
    session.ping(answered);
  }
}

/** Watches the pings of one client. */
export interface PingGuard {
  /** Called when a ping was received. Returns false if too many came too soon. */
  ping(): boolean;
}

const forgiven = 3;

/**
 * Creates a guard that allows three pings in a row that come sooner than `minIntervalMs` after the
 * previous one.
 *
 * Clients answer DATA with pings to measure the bandwidth (grpc-go, C-core and grpc-java do). So a
 * ping after which `sentBytes` has grown begins a new row, as every DATA or HEADERS frame does in
 * the server of grpc-go (gRFC A8).
 */
export function createPingGuard(
  clock: Clock,
  minIntervalMs: number,
  meter: { readonly sentBytes: number },
): PingGuard {
  return new Guard(clock, minIntervalMs, meter);
}

class Guard implements PingGuard {
  readonly #clock: Clock;
  readonly #minIntervalMs: number;
  readonly #meter: { readonly sentBytes: number };
  #last: number | undefined;
  #sentBytes: number;
  #strikes = 0;

  constructor(clock: Clock, minIntervalMs: number, meter: { readonly sentBytes: number }) {
    this.#clock = clock;
    this.#minIntervalMs = minIntervalMs;
    this.#meter = meter;
    this.#sentBytes = meter.sentBytes;
  }

  ping(): boolean {
    const now = this.#clock.now();
    const { sentBytes } = this.#meter;
    const isEarly = this.#last !== undefined && now - this.#last < this.#minIntervalMs;
    this.#strikes = isEarly && sentBytes === this.#sentBytes ? this.#strikes + 1 : 0;
    this.#last = now;
    this.#sentBytes = sentBytes;
    return this.#strikes <= forgiven;
  }
}
