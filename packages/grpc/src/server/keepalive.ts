import type { ServerHttp2Session } from "node:http2";
import type { Clock } from "@xdstp/core";
import { createDeadlines } from "../wire/deadlines.ts";
import { probeSession } from "./probe-session.ts";
import type { WireMeter } from "./wire-meter.ts";

/** The times of {@link createKeepalive}, in milliseconds. */
export interface KeepaliveTimes {
  readonly pingMs: number;
  readonly pingTimeoutMs: number;
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
 * while WINDOW_UPDATE frames keep coming.
 */
export function createKeepalive(clock: Clock, times: KeepaliveTimes): Keepalive {
  /** Bytes received when the ping was sent. */
  const receivedAtPing = new Map<KeptAlive, number>();
  const rest = (connection: KeptAlive): void => {
    receivedAtPing.delete(connection);
    resting.add(connection);
  };
  const resting = createDeadlines<KeptAlive>(clock, times.pingMs, (connection) => {
    if (connection.session.destroyed) return;
    receivedAtPing.set(connection, connection.meter.receivedBytes);
    asked.add(connection);
    probeSession(connection.session, connection.meter, () => {
      if (asked.remove(connection)) rest(connection);
    });
  });
  const asked = createDeadlines<KeptAlive>(clock, times.pingTimeoutMs, (connection) => {
    if (connection.meter.receivedBytes > (receivedAtPing.get(connection) ?? 0)) rest(connection);
    else connection.lost();
  });
  return {
    start(connection) {
      resting.add(connection);
    },
    stop(connection) {
      resting.remove(connection);
      asked.remove(connection);
      receivedAtPing.delete(connection);
    },
  };
}
