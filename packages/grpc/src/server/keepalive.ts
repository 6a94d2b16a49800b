import type { ServerHttp2Session } from "node:http2";
import type { Clock } from "@xdstp/core";
import { createDeadlines } from "../wire/deadlines.ts";
import { probeSession } from "./probe-session.ts";
import type { WireMeter } from "./wire-meter.ts";

/** The times of {@link createKeepalive}, in milliseconds, and the least rate of a slow link. */
export interface KeepaliveTimes {
  readonly pingMs: number;
  readonly pingTimeoutMs: number;
  readonly minBytesPerSecond: number;
}

/** What is kept alive. */
export interface KeptAlive {
  readonly session: ServerHttp2Session;
  readonly meter: WireMeter;
  /** Nothing was received in time. */
  lost(): void;
}

/** Pings the connections of a server, each while it lives. */
export interface Keepalive {
  start(connection: KeptAlive): void;
  stop(connection: KeptAlive): void;
}

/**
 * A keepalive with two timers, however many connections there are.
 *
 * Whatever is received answers a ping, as in gRPC: on a slow link the ping waits behind megabytes in the buffers of the socket, and its answer behind them too,
 * while WINDOW_UPDATE frames keep coming. A client with a large window sends such a frame only after half of the window. So the bytes that a client reads also answer a ping, if they are
 * at least the least rate. A lost peer reads nothing: only the buffers of the socket are filled.
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
