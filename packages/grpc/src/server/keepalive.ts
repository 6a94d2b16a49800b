import type { ServerHttp2Session } from "node:http2";
import type { Clock } from "@xdstp/core";
import { createDeadlines } from "../wire/deadlines.ts";

/** The times of {@link createKeepalive}, in milliseconds. */
export interface KeepaliveTimes {
  readonly pingMs: number;
  readonly pingTimeoutMs: number;
}

/** What is kept alive. */
export interface KeptAlive {
  readonly session: ServerHttp2Session;
  /** An answer did not come in time. */
  lost(): void;
}

/** Pings the connections of a server, each while it lives. */
export interface Keepalive {
  start(connection: KeptAlive): void;
  stop(connection: KeptAlive): void;
}

/** A keepalive with two timers, however many connections there are. */
export function createKeepalive(clock: Clock, times: KeepaliveTimes): Keepalive {
  const resting = createDeadlines<KeptAlive>(clock, times.pingMs, (connection) => {
    if (connection.session.destroyed) return;
    asked.add(connection);
    connection.session.ping((error: Error | null) => {
      if (error === null && asked.remove(connection)) resting.add(connection);
    });
  });
  const asked = createDeadlines<KeptAlive>(clock, times.pingTimeoutMs, (connection) => { connection.lost(); });
  return {
    start(connection) { resting.add(connection); },
    stop(connection) {
      resting.remove(connection);
      asked.remove(connection);
    },
  };
}
