import { once } from "node:events";
import { createServer, type Http2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";

/** One of the programs that the calls are for. */
export interface Backend {
  readonly name: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Starts a backend that answers each call with its name: gRPC calls as gRPC, others as plain text. It listens on a free port of the loopback. */
export async function startBackend(name: string): Promise<Backend> {
  const sessions = new Set<Http2Session>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {
      session.destroy();
    });
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {
      stream.destroy();
    });
    stream.resume();
    stream.on("end", () => {
      answer(stream, name, (headers["content-type"] ?? "").startsWith("application/grpc"));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    name,
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const session of sessions) session.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function answer(stream: ServerHttp2Stream, name: string, grpc: boolean): void {
  if (stream.destroyed) return;
  if (!grpc) {
    stream.respond({ ":status": 200, "content-type": "text/plain" });
    stream.end(name);
    return;
  }
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => {
    stream.sendTrailers({ "grpc-status": "0" });
  });
  stream.end(Buffer.concat([Buffer.from([0, 0, 0, 0, name.length]), Buffer.from(name)]));
}
