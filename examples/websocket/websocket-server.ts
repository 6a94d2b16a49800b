import { once } from "node:events";
import { type AddressInfo, isIPv6 } from "node:net";

import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";
import { WebSocketServer } from "ws";

import { closeWith, streamOver } from "./websocket-stream.ts";

/** Answers a call: `accept` of a server of `@xdstp/server`. */
export type Accept = (path: string, peer: string, out: ByteStream) => ByteStreamHandler | Status;

/** A listener for calls over WebSocket. */
export interface WebSocketListener {
  /** The URL that clients connect to. */
  readonly url: string;
  /** The sockets that are open. */
  readonly sockets: ReadonlySet<{ terminate(): void }>;
  close(): Promise<void>;
}

/** Milliseconds between two pings, by which both ends notice a connection that is dead. */
const pingMs = 25_000;

/** Listens at an address. The path of a URL is the method of gRPC, which selects the variant. */
export async function listen(
  { host, port }: { readonly host: string; readonly port: number },
  accept: Accept,
): Promise<WebSocketListener> {
  const server = new WebSocketServer({ host, port, maxPayload: 32 << 20 });
  await once(server, "listening");
  server.on("connection", (socket, request) => {
    const { remoteAddress = "", remotePort = 0 } = request.socket;
    // The handler is known only after `accept` has the stream.
    let handler: ByteStreamHandler | undefined;
    const out = streamOver(socket, {
      onMessage: (message) => handler?.onMessage(message),
      onDrained: () => handler?.onDrained(),
      onClosed: (status) => handler?.onClosed(status),
    });
    const answer = accept(request.url ?? "", `${remoteAddress}:${remotePort}`, out);
    if ("code" in answer) closeWith(socket, answer);
    else handler = answer;
    const pings = setInterval(() => {
      socket.ping();
    }, pingMs);
    socket.once("close", () => {
      clearInterval(pings);
    });
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `ws://${isIPv6(host) ? `[${host}]` : host}:${own}`,
    sockets: server.clients,
    async close() {
      for (const socket of server.clients) socket.terminate();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
