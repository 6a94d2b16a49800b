import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import type { TestAuthority } from "@xdstp/testing";
import { onTestFinished } from "vitest";

/** The answer of a backend to a request: its own name, and the content of the request. */
export interface BackendAnswer {
  readonly backend: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Servers on the loopback, each of which answers with a {@link BackendAnswer}. */
export interface GatewayBackends {
  /** Starts one for the time of the test. `tls`: with a certificate of `shop-a` for the backend `shop/a`. */
  start(name: string, kind: "http" | "h2c" | "tls"): Promise<number>;
  /** The paths that a backend was sent. */
  pathsOf(name: string): readonly string[];
}

/** Backends that know each other's requests. */
export function useGatewayBackends(authority: TestAuthority): GatewayBackends {
  const paths = new Map<string, string[]>();
  const failures = new Set<string>();
  const note = (name: string, path: string): void => {
    paths.set(name, [...(paths.get(name) ?? []), path]);
  };
  const http = (name: string, request: IncomingMessage, answer: Answer): void => {
    const { method = "", url: path = "", headers } = request;
    note(name, path);
    const id = String(headers["x-id"]);
    const fails = headers["x-fail"] !== undefined && !failures.has(id);
    failures.add(id);
    const wait = setTimeout(
      () => {
        answer(fails ? Number(headers["x-fail"]) : 200, { backend: name, method, path, headers });
      },
      Number(headers["x-wait"] ?? 0),
    );
    request.on("close", () => {
      if (request.errored !== null) clearTimeout(wait);
    });
  };
  return {
    pathsOf: (name) => paths.get(name) ?? [],
    async start(name, kind) {
      if (kind === "h2c") return listening(http2Server(name, note));
      const dnsName = name.replace("/", "-");
      const options =
        kind === "tls" ? authority.issue({ name: dnsName, dnsNames: [dnsName] }) : undefined;
      const handle: Parameters<typeof createServer>[1] = (request, response) => {
        request.resume();
        http(name, request, (status, content) => {
          response.writeHead(status, { "x-from": name }).end(JSON.stringify(content));
        });
      };
      const server =
        options === undefined ? createServer(handle) : createTlsServer(options, handle);
      // Envoy keeps connections longer than this server would by default.
      server.keepAliveTimeout = 600_000;
      return listening(server, () => {
        server.closeAllConnections();
      });
    },
  };
}

type Answer = (status: number, content: BackendAnswer) => void;

/** Answers HTTP/2 without TLS; calls of gRPC with the name of the backend as the message. */
function http2Server(name: string, note: (name: string, path: string) => void): Server {
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    const { ":method": method = "", ":path": path = "" } = headers;
    note(name, path);
    stream.resume();
    if (headers["content-type"] !== "application/grpc") {
      stream.respond({ ":status": 200 });
      stream.end(JSON.stringify({ backend: name, method, path, headers }));
      return;
    }
    stream.respond(
      { ":status": 200, "content-type": "application/grpc" },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () => {
      stream.sendTrailers({ "grpc-status": "0" });
    });
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(name.length, 1);
    stream.end(Buffer.concat([frame, Buffer.from(name)]));
  });
  return server;
}

async function listening(server: Server, cut: () => void = () => undefined): Promise<number> {
  const sockets = new Set<{ destroy(): unknown }>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    cut();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}
