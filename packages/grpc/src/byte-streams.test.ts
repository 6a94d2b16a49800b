import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { ByteStream, ByteStreamHandler } from "@xdstp/core";
import { checkByteStream, type TestedWire } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createGrpcChannel } from "./client/index.ts";
import { createGrpcServer } from "./server/index.ts";

const path = "/test.Contract/Stream";

/** Starts a gRPC server and a channel to it, through a proxy that can cut the connection. */
async function makeGrpc(accept: (out: ByteStream) => ByteStreamHandler): Promise<TestedWire> {
  const server = createGrpcServer({
    isStreaming: (method) => method === path,
    accept: (_call, out) => accept(out),
  });
  const { port } = await server.listen({ port: 0 });
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const channel = createGrpcChannel({
    target: `127.0.0.1:${String((proxy.address() as AddressInfo).port)}`,
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    open: (handler) => channel.open({ path }, handler),
    cut,
    close: async () => {
      await channel.close();
      await server.close({ graceMs: 0 });
      cut();
      proxy.close();
    },
  };
}

describe("The byte streams of gRPC:", () => {
  it.each(checkByteStream(makeGrpc, { largeBytes: 4 << 20, unreadBytes: 16 << 20 }))(
    "$title",
    async ({ check }) => {
      expect(await check()).toEqual({ kind: "passed" });
    },
  );
});
