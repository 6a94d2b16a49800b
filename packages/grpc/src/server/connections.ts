import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { createDeadlines, type Status, type Timer } from "@xdstp/core";
import type { ConnectionAge } from "./connection-age.ts";
import {
  createConnection,
  emptyBytesPerSecond,
  rejectedBlockBytes,
  type Connection,
  type ConnectionHost,
} from "./connection.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { createHttp1Connection, type Http1Connection, type Http1Host } from "./http1-connection.ts";
import { createKeepalive } from "./keepalive.ts";
import { createTally } from "./tally.ts";

/** The limit of open connections, in total and per IP address. */
export interface ConnectionSlots {
  /** Takes a slot. Returns false if none is free. */
  take(address: string): boolean;
  /** Frees a slot that was taken. */
  release(address: string): void;
}

/** The open connections of one server. */
export interface Connections {
  /** The slots that connections take when they are admitted. */
  readonly slots: ConnectionSlots;

  /** Admits a new session, or cuts it if there are too many. */
  open(session: ServerHttp2Session): void;
  /** Returns the connection of a session that was admitted and is open. */
  of(session: ServerHttp2Session | undefined): Connection | undefined;
  /** Admits a new HTTP/1.1 connection, or cuts it. Returns `undefined` if it was cut. */
  openHttp1(socket: Socket): Http1Connection | undefined;
  /** Returns the HTTP/1.1 connection of a socket that was admitted and is open. */
  ofSocket(socket: Socket): Http1Connection | undefined;
  /**
   * Disconnects all clients. Resolves when the last connection has closed. Streams end with
   * `status` within `spreadMs`, those of each connection at a random time. Connections that are
   * still open `graceMs` after that are cut.
   */
  drain(graceMs: number, spreadMs: number, status: Status): Promise<void>;
}

/** The rules for admitting connections. */
export interface ConnectionRules {
  /** True if clients without an identity are not admitted. */
  readonly needsCertificate: boolean;
  readonly age: ConnectionAge | undefined;
}

/**
 * Returns the milliseconds between two checks of all connections. The interval grows with their
 * number, so that checks take at most 0.5 % of the time.
 */
function lookMs(connections: number): number {
  return Math.min(1_000, Math.max(50, connections / 4));
}

/** Creates an empty set of connections. */
export function createConnections(
  context: GrpcContext,
  { needsCertificate, age }: ConnectionRules,
): Connections {
  const { counters, limits } = context;
  const open = new Map<ServerHttp2Session, Connection>();
  const http1 = new Map<Socket, Http1Connection>();
  const tally = createTally(limits.maxConnections, limits.maxConnectionsPerPeer);
  let onEmpty: (() => void) | undefined;
  let drainMs: number | undefined;
  let looks: Timer | undefined;

  const rejections = createRejections(context);

  const look = (): void => {
    const now = context.clock.now();
    for (const connection of open.values()) {
      const blocks = connection.look(now);
      if (blocks > 0 && rejections.add(connection.principal, blocks)) connection.cut("no-content");
    }
    looks = open.size === 0 ? undefined : context.clock.after(lookMs(open.size), look);
  };

  const opened = (connection: Connection | Http1Connection): void => {
    counters.connections += 1;
    counters.connectionsOpened += 1;
    const { peer, identity } = connection;
    context.emit({
      kind: "connection-opened",
      peer,
      ...(identity === undefined ? {} : { identity }),
    });
    if (drainMs !== undefined) connection.drain(drainMs, "drain-grace");
  };
  const closed = (connection: Connection | Http1Connection): void => {
    counters.connections -= 1;
    tally.remove(connection.address);
    context.emit({ kind: "connection-closed", peer: connection.peer });
    if (open.size === 0) {
      looks?.cancel();
      looks = undefined;
    }
    if (open.size + http1.size === 0) onEmpty?.();
  };
  /** Returns false if the connection was not admitted, and cuts it. */
  const admits = (connection: Connection | Http1Connection): boolean => {
    if (needsCertificate && connection.identity === undefined)
      connection.turnAway("no-certificate");
    else if (tally.add(connection.address)) return true;
    else connection.turnAway("too-many-connections");
    return false;
  };
  const host: ConnectionHost = {
    context,
    age,
    keepalive: createKeepalive(context.clock, limits),
    silent: createDeadlines(context.clock, limits.firstMessageMs, (connection) => {
      connection.missesCall();
    }),
    closed(session, connection) {
      if (open.delete(session)) closed(connection);
    },
  };
  const missed = (connection: Http1Connection): void => {
    connection.missesCall();
  };
  const http1Host: Http1Host = {
    context,
    age,
    silent: createDeadlines(context.clock, limits.firstMessageMs, missed),
    idle: createDeadlines(context.clock, limits.httpIdleMs, missed),
    closed(connection) {
      if (http1.delete(connection.socket)) closed(connection);
    },
  };
  return {
    slots: {
      take: (address) => tally.add(address),
      release(address) {
        tally.remove(address);
      },
    },
    open(session) {
      const connection = createConnection(session, host);
      if (!admits(connection)) return;
      open.set(session, connection);
      looks ??= context.clock.after(lookMs(open.size), look);
      opened(connection);
    },
    openHttp1(socket) {
      const connection = createHttp1Connection(socket, http1Host);
      if (!admits(connection)) return undefined;
      http1.set(socket, connection);
      opened(connection);
      return connection;
    },
    ofSocket: (socket) => http1.get(socket),
    of: (session) => (session === undefined ? undefined : open.get(session)),
    async drain(graceMs, spreadMs, status) {
      drainMs = graceMs;
      for (const connection of [...open.values(), ...http1.values()]) {
        if (spreadMs === 0) connection.drain(graceMs, "drain-grace");
        else connection.retire(Math.random() * spreadMs, status, graceMs, "drain-grace");
      }
      if (open.size + http1.size > 0)
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
        });
    },
  };
}

/**
 * Counts the header blocks of each peer that HTTP/2 has rejected, so that a peer gets no more of
 * them by opening more connections.
 */
interface Rejections {
  /** Returns true if the peer has sent too many. */
  add(peer: string, blocks: number): boolean;
}

function createRejections({ clock, limits }: GrpcContext): Rejections {
  const peers = new Map<string, { bytes: number; ms: number }>();
  const forget = (now: number): void => {
    for (const [peer, { bytes, ms }] of peers) if (bytes <= comesBack(now - ms)) peers.delete(peer);
  };
  return {
    add(peer, blocks) {
      const now = clock.now();
      forget(now);
      const before = peers.get(peer) ?? { bytes: 0, ms: now };
      const bytes = before.bytes - comesBack(now - before.ms) + blocks * rejectedBlockBytes;
      peers.set(peer, { bytes, ms: now });
      return bytes > limits.emptyBytes;
    },
  };
}

function comesBack(ms: number): number {
  return (emptyBytesPerSecond * ms) / 1_000;
}
