import { createServer as createTcpServer, type AddressInfo, type DropArgument } from "node:net";
import type { Server, Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { type Deadlines, createDeadlines, XdsError } from "@xdstp/core";
import type { ConnectionSlots } from "./connections.ts";
import type { GrpcContext } from "./grpc-context.ts";
import { peerName } from "./identity-of.ts";
import { demandOf, secureContextOf, type TlsOptions } from "./tls-options.ts";

const backlog = 4096;
const defaultHost = "127.0.0.1";
/** The first bytes of each HTTP/2 connection. No request of HTTP/1.1 begins so. */
const preface = Buffer.from("PRI * HTTP/2.0\r\n");

/** Options of {@link createPort}. */
export interface PortOptions {
  readonly tls: TlsOptions | undefined;
  /** The limit of connections, also of those that have not sent a byte yet. */
  readonly slots: ConnectionSlots;
  /** Receives connections that speak HTTP/2. */
  readonly onHttp2: (socket: Socket) => void;
  /** Receives connections that speak HTTP/1.1. Absent: HTTP/1.1 is not served. */
  readonly onHttp1: ((socket: Socket) => void) | undefined;
}

/** The port of a server, which passes each connection to the code for its version of HTTP. */
export interface Port {
  /** Opens the port or the socket; rejects with an XdsError that names the address. */
  listen(where: ListenAddress): Promise<{ readonly address: string; readonly port: number }>;
  /**
   * Accepts no more connections. Resolves when the last one has closed, at once if the port is not
   * open.
   */
  close(): Promise<void>;
  /**
   * Replaces certificate, key and authorities for new connections. Throws an XdsError and changes
   * nothing if it cannot.
   */
  setTls(tls: TlsOptions): void;
}

/** The address of a server: a port, or a socket in the file system. */
export type ListenAddress =
  { readonly host?: string; readonly port: number } | { readonly path: string };

/**
 * Creates the port of a server, for TLS 1.2 and newer with `tls`.
 *
 * With TLS, ALPN selects the version of HTTP, and a client without ALPN gets HTTP/1.1. Without TLS
 * the first bytes of the client do: an HTTP/2 connection begins with a preface. Where HTTP/1.1 is
 * not served, ALPN has `h2` only, and nothing is read before HTTP/2 begins.
 */
export function createPort(context: GrpcContext, options: PortOptions): Port {
  const { tls, slots, onHttp2, onHttp1 } = options;
  const undecided =
    onHttp1 === undefined || tls !== undefined
      ? undefined
      : createUndecided(context, slots, { onHttp2, onHttp1 });
  const server =
    tls === undefined
      ? createTcpServer(undecided === undefined ? onHttp2 : undecided.add)
      : createSecurePort(context, tls, options);
  // Connections in their handshake count.
  server.maxConnections = context.limits.maxConnections;
  server.on("drop", (socket?: DropArgument) => {
    cut(context, "too-many-connections", peerName(socket ?? {}));
  });
  // Without a listener the error of a socket without a session would end the process
  // (CVE-2025-59465).
  server.on("connection", (socket: Socket) => {
    socket.on("error", ignore);
  });
  server.on("error", (error) => {
    if (server.listening) context.fault("server", error);
  });
  return {
    listen: async (where) => listenOn(server, where),
    async close() {
      undecided?.close();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
    setTls(next) {
      if (tls === undefined || !("setSecureContext" in server))
        throw new XdsError(
          "FAILED_PRECONDITION",
          "this server has no TLS; create another one with the option tls",
        );
      // Node fixes at creation whether a server requests certificates.
      if (demandOf(tls) !== demandOf(next))
        throw new XdsError(
          "FAILED_PRECONDITION",
          "a running server cannot start or stop to request client certificates; create another one",
        );
      server.setSecureContext(secureContextOf(next, context.clock.wallTime()));
    },
  };
}

function createSecurePort(
  context: GrpcContext,
  tls: TlsOptions,
  { onHttp2, onHttp1 }: PortOptions,
): ReturnType<typeof createTlsServer> {
  const server = createTlsServer({
    ...secureContextOf(tls, context.clock.wallTime()),
    ALPNProtocols: onHttp1 === undefined ? ["h2"] : ["h2", "http/1.1"],
    handshakeTimeout: context.limits.firstMessageMs,
    requestCert: tls.clientCa !== undefined,
    // A client without a valid certificate is cut as a connection. Node would close it without a
    // reason.
    rejectUnauthorized: false,
  });
  server.on("secureConnection", (socket: TLSSocket) => {
    socket.on("error", ignore);
    if (socket.alpnProtocol === "h2") onHttp2(socket);
    else if (onHttp1 !== undefined) onHttp1(socket);
    else {
      cut(context, "not-http2", peerName(socket));
      socket.destroy();
    }
  });
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    cut(context, "tls-handshake", peerName(socket), error.code ?? "unknown error");
    socket.destroy();
  });
  return server;
}

/** The connections whose version of HTTP is not known yet. */
interface Undecided {
  readonly add: (socket: Socket) => void;
  close(): void;
}

function createUndecided(
  context: GrpcContext,
  slots: ConnectionSlots,
  {
    onHttp2,
    onHttp1,
  }: { readonly onHttp2: (socket: Socket) => void } & {
    readonly onHttp1: (socket: Socket) => void;
  },
): Undecided {
  const waiting = new Map<Socket, () => void>();
  const silent: Deadlines<Socket> = createDeadlines(
    context.clock,
    context.limits.firstMessageMs,
    (socket) => {
      cut(context, "silent", peerName(socket));
      socket.destroy();
    },
  );
  return {
    add(socket) {
      const address = socket.remoteAddress ?? "unknown";
      if (!slots.take(address)) {
        cut(context, "too-many-connections", peerName(socket));
        socket.destroy();
        return;
      }
      const decided = (): void => {
        if (!waiting.delete(socket)) return;
        silent.remove(socket);
        slots.release(address);
        socket.off("close", decided);
      };
      let read: Buffer = Buffer.alloc(0);
      const look = (): void => {
        const bytes = socket.read() as Buffer | null;
        if (bytes !== null) read = read.length === 0 ? bytes : Buffer.concat([read, bytes]);
        const version = read.length === 0 ? undefined : versionIn(read);
        if (version === undefined) {
          if (!socket.destroyed) socket.once("readable", look);
          return;
        }
        decided();
        // Only now: bytes that are put back are readable at once.
        socket.unshift(read);
        if (version === "http2") onHttp2(socket);
        else onHttp1(socket);
      };
      waiting.set(socket, decided);
      silent.add(socket);
      socket.once("close", decided);
      socket.once("readable", look);
    },
    close() {
      for (const socket of [...waiting.keys()]) socket.destroy();
    },
  };
}

/** Returns `undefined` if more bytes are needed. */
function versionIn(bytes: Buffer): "http2" | "http1" | undefined {
  const length = Math.min(bytes.length, preface.length);
  if (bytes.compare(preface, 0, length, 0, length) !== 0) return "http1";
  return length === preface.length ? "http2" : undefined;
}

async function listenOn(
  server: Server,
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

function cut(
  context: GrpcContext,
  reason: "too-many-connections" | "tls-handshake" | "not-http2" | "silent",
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

/** The end of the socket follows, and needs no action. */
function ignore(): void {
  /** see above */
}
