import { Code, ConnectError } from "@connectrpc/connect";
import { systemClock, XdsError, type Clock } from "@xdstp/core";

import { createCallDispatch, shuttingDown } from "./call-dispatch.ts";
import { createConnectRoutes } from "./connect-routes.ts";
import { checkedAge, type ConnectionAge } from "./connection-age.ts";
import { createConnections } from "./connections.ts";
import { createContext, type GrpcStats, statsOf } from "./grpc-context.ts";
import type { GrpcEvent } from "./grpc-event.ts";
import { resolveGrpcLimits, type GrpcLimits } from "./grpc-limits.ts";
import { createHttpCalls } from "./http-call.ts";
import type { HttpListener } from "./http-listener.ts";
import { runtimeFault } from "./runtime-fault.ts";
import { createHttp2Server } from "./http2-server.ts";
import type { MethodRouter } from "./method-router.ts";
import { requireNode } from "../wire/node-warning.ts";
import { createPort } from "./port.ts";
import type { AcceptCall } from "./raw-call.ts";
import { createTally } from "./tally.ts";
import { demandOf, type TlsOptions } from "./tls-options.ts";

/** Options of {@link createGrpcServer}. */
export interface GrpcServerOptions {
  /**
   * Accepts or rejects each streaming call: returns a handler, or a status that rejects it. Called
   * once per call, before its first message.
   */
  readonly accept: AcceptCall;
  /**
   * Returns true if a path, `/package.Service/Method`, is a streaming method that `accept` serves.
   */
  readonly isStreaming: (path: string) => boolean;
  /**
   * Registers all other methods, which Connect serves over gRPC, gRPC-Web and its own protocol.
   * Called once. Default: none.
   */
  readonly routes?: (router: MethodRouter) => void;
  /**
   * Serve requests that are neither gRPC nor a method of `routes`, over HTTP/2 and HTTP/1.1 on the
   * same port; see {@link HttpListener}. All limits hold for these too. Default: none, so that
   * HTTP/1.1 is rejected.
   */
  readonly http?: readonly HttpListener[];
  /** Absent: without TLS. */
  readonly tls?: TlsOptions;
  /** Absent: connections have no maximum age. */
  readonly connectionAge?: ConnectionAge;
  /** See {@link GrpcLimits} for the defaults. */
  readonly limits?: Partial<GrpcLimits>;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /**
   * Receives events. Exceptions are counted in {@link GrpcStats.faults}, and have no other effect.
   */
  readonly onEvent?: (event: GrpcEvent) => void;
}

/** A server of byte streams. */
export interface GrpcServer {
  /**
   * Opens the port, once. `host` is 127.0.0.1 by default. Port 0 selects a free port; the result
   * has the number. With `path`: opens a socket at a path of the file system, where no file may
   * exist; then the result is `unix:PATH` with port 0.
   * Rejects with an XdsError: UNAVAILABLE if the system rejects the address, FAILED_PRECONDITION if
   * this server already listens or is closed, and UNIMPLEMENTED on Deno, whose HTTP/2 aborts the
   * process when a client leaves.
   */
  listen(
    where: { readonly host?: string; readonly port: number } | { readonly path: string },
  ): Promise<{ readonly address: string; readonly port: number }>;
  /**
   * Shuts down in order (S-STREAM-13): accepts no new connections and calls, sends queued messages,
   * then ends each call with UNAVAILABLE.
   * With `spreadMs` (default 0) the calls of each connection end at a random time within it, so
   * that not all clients reconnect at once.
   * Calls that are open `graceMs` (default 5,000) later are cut. Resolves when everything is
   * closed. A second call returns the same promise.
   */
  close(options?: { readonly graceMs?: number; readonly spreadMs?: number }): Promise<void>;
  /**
   * Replaces certificate, key and authorities for new connections; open ones stay as they are.
   * Throws an XdsError and changes nothing: INVALID_ARGUMENT for an invalid part,
   * FAILED_PRECONDITION if this server has no TLS, or if it would begin or stop to request client
   * certificates.
   */
  setTls(tls: TlsOptions): void;
  /** Returns the open connections and calls, and the counters. */
  stats(): GrpcStats;
}

/**
 * Creates a gRPC server over HTTP/2, with or without TLS: streaming methods as raw bytes on
 * `node:http2`, all others through Connect.
 *
 * It does not interpret messages. Invalid input of a peer ends its call or its connection, never
 * the process. Every limit that ends one has a counter (S-LIM-1, S-LIM-3, S-STREAM-7).
 * Throws an XdsError if a limit or a certificate is invalid, or Node is older than 22.
 */
export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  requireNode(process.versions.node);
  const context = createContext(
    resolveGrpcLimits(options.limits),
    options.clock ?? systemClock,
    options.onEvent,
  );
  const shutdown = new AbortController();
  const server = createHttp2Server(context);
  const connections = createConnections(context, {
    needsCertificate: demandOf(options.tls) === "required",
    age: checkedAge(options.connectionAge),
  });
  const routes = createConnectRoutes(options.routes, context, shutdown.signal);
  const tally = createTally(context.limits.maxStreams, context.limits.maxStreamsPerPeer);
  const http =
    options.http === undefined
      ? undefined
      : createHttpCalls(options.http, { context, connections, tally });
  const dispatch = createCallDispatch(
    { accept: options.accept, isStreaming: options.isStreaming, routes, http, tally },
    context,
    connections,
  );
  server.on("session", (session) => {
    connections.open(session);
  });
  server.on("stream", (stream, headers, flags, rawHeaders) => {
    dispatch.open({ stream, headers, flags, rawHeaders });
  });
  const port = createPort(context, {
    tls: options.tls,
    slots: connections.slots,
    onHttp2: (socket) => {
      server.emit("connection", socket);
    },
    onHttp1: http?.connect,
  });
  let listening: Promise<unknown> | undefined;
  let closing: Promise<void> | undefined;
  const end = async (graceMs: number, spreadMs: number): Promise<void> => {
    await listening?.catch(() => undefined);
    const stopped = port.close();
    dispatch.drain(spreadMs === 0);
    shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable));
    await connections.drain(graceMs, spreadMs, shuttingDown);
    await stopped;
  };
  return {
    async listen(where) {
      const fault = runtimeFault(process.versions);
      if (fault !== undefined) throw fault;
      if (closing !== undefined)
        throw new XdsError("FAILED_PRECONDITION", "this server is closed; create another one");
      if (listening !== undefined)
        throw new XdsError(
          "FAILED_PRECONDITION",
          "this server listens already; create another one",
        );
      const bound = port.listen(where);
      listening = bound;
      bound.catch(() => {
        listening = undefined;
      });
      return bound;
    },
    close({ graceMs = 5_000, spreadMs = 0 } = {}) {
      closing ??= end(graceMs, spreadMs);
      return closing;
    },
    setTls: (tls) => {
      port.setTls(tls);
    },
    stats: () => statsOf(context.counters),
  };
}
