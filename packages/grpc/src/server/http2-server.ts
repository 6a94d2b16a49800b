import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type ServerOptions,
} from "node:http2";
import type { AddressInfo, DropArgument, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { XdsError } from "@xdstp/core";
import type { GrpcContext } from "./grpc-context.ts";
import { peerName } from "./identity-of.ts";
import { secureContextOf, type TlsOptions } from "./tls-options.ts";

/**
 * Node's count includes what is queued for all calls of a connection, each of which has its own
 * limit. Its default of 10 MB would reject calls long before.
 */
const sessionMegabytes = 1024;
const streamWindowBytes = 1024 * 1024;
const backlog = 4096;
const defaultHost = "127.0.0.1";
/** More than the size of any header block that HTTP/2 accepts without HPACK compression. */
const headerSlackBytes = 256 * 1024;
/**
 * The maximum number of headers of one call, each of which may be compressed to one byte. Real
 * clients send a few dozen.
 */
const headerCount = 1_000;

/**
 * Creates an HTTP/2 server that announces its limits to clients; with `tls` for TLS 1.2 and newer
 * with ALPN `h2` only.
 */
export function createHttp2Server(
  context: GrpcContext,
  tls?: TlsOptions,
): Http2Server | Http2SecureServer {
  const server =
    tls === undefined ? createServer(settingsOf(context)) : createTlsServer(context, tls);
  // Connections in their handshake count, which have no session yet.
  server.maxConnections = context.limits.maxConnections;
  server.on("drop", (socket?: DropArgument) => {
    cut(context, "too-many-connections", peerName(socket ?? {}));
  });
  // Without a listener the error of a socket without a session would end the process
  // (CVE-2025-59465).
  server.on("connection", (socket: Socket) => {
    socket.on("error", ignore);
  });
  server.on("sessionError", ignore);
  return server;
}

function createTlsServer(context: GrpcContext, tls: TlsOptions): Http2SecureServer {
  const server = createSecureServer({
    ...settingsOf(context),
    ...secureContextOf(tls, context.clock.wallTime()),
    handshakeTimeout: context.limits.firstMessageMs,
    requestCert: tls.clientCa !== undefined,
    // A client without a valid certificate is cut as a connection. Node would close it without a
    // reason.
    rejectUnauthorized: false,
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    socket.on("error", ignore);
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    cut(context, "tls-handshake", peerName(socket), error.code ?? "unknown error");
    socket.destroy();
  });
  server.on("unknownProtocol", (socket: TLSSocket) => {
    cut(context, "not-http2", peerName(socket));
    socket.destroy();
  });
  return server;
}

function settingsOf({ limits }: GrpcContext): ServerOptions {
  // Beyond these Node resets a call without a status. Between the two limits `CallDispatch` rejects
  // the call, with a status and a counter.
  const maxHeaderListSize = limits.headerListBytes + headerSlackBytes;
  return {
    maxSessionMemory: sessionMegabytes,
    // A client that cancels all its calls at once is not an attack (grpc-node#2872). A client that
    // keeps doing so is (CVE-2023-44487).
    streamResetBurst: Math.max(1000, limits.maxStreamsPerConnection),
    streamResetRate: 100,
    maxHeaderListPairs: headerCount,
    settings: {
      maxConcurrentStreams: limits.maxStreamsPerConnection,
      maxHeaderListSize,
      initialWindowSize: streamWindowBytes,
      enablePush: false,
    },
  };
}

/** The address of a server: a port, or a socket in the file system. */
type ListenAddress = { readonly host?: string; readonly port: number } | { readonly path: string };

/** Opens the port or the socket; rejects with an XdsError that names the address. */
export async function listenOn(
  server: Http2Server | Http2SecureServer,
  where: ListenAddress,
): Promise<{ readonly address: string; readonly port: number }> {
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void => {
      reject(rejected(where, cause));
    };
    server.once("error", onError);
    // In a cluster processes share a port; a path belongs to one process.
    server.listen(
      {
        ...("path" in where ? { ...where, exclusive: true } : { host: defaultHost, ...where }),
        backlog,
      },
      () => {
        server.off("error", onError);
        resolve();
      },
    );
  });
  if ("path" in where) return { address: `unix:${where.path}`, port: 0 };
  const bound = server.address() as AddressInfo;
  return { address: bound.address, port: bound.port };
}

/** Accepts no more connections. Resolves at once if the server does not listen. */
export async function stopListening(server: Http2Server | Http2SecureServer): Promise<void> {
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}

function cut(
  context: GrpcContext,
  reason: "too-many-connections" | "tls-handshake" | "not-http2",
  peer: string,
  detail?: string,
): void {
  context.count(reason);
  context.emit({
    kind: "connection-cut",
    peer,
    reason,
    ...(detail === undefined ? {} : { detail }),
  });
}

function rejected(where: ListenAddress, cause: NodeJS.ErrnoException): XdsError {
  if ("path" in where)
    return new XdsError(
      "UNAVAILABLE",
      `cannot listen on unix:${where.path} (${cause.code ?? cause.message}): ${pathWay(cause.code)}`,
      { cause },
    );
  const { host = defaultHost, port } = where;
  const way =
    cause.code === "EADDRINUSE"
      ? "another program has this port; stop it or choose another port"
      : "choose an address of this machine and a port that you may open";
  return new XdsError(
    "UNAVAILABLE",
    `cannot listen on ${host}:${port} (${cause.code ?? cause.message}): ${way}`,
    { cause },
  );
}

function pathWay(code: string | undefined): string {
  if (code === "EADDRINUSE")
    return "there is such a file; remove it if no program listens there, or choose another path";
  return "choose a short path in a folder that there is and that you may write to";
}

/** The end of the session or socket follows, and needs no action. */
function ignore(): void {
  /** see above */
}
