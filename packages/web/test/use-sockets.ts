import { createCache } from "@xdstp/cache";
import { type ByteStream, type ByteStreamHandler, StatusCode } from "@xdstp/core";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createServer, type ServerEvent } from "@xdstp/server";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import type { SocketLike } from "../src/websocket/index.ts";
import { nameOf } from "./use-origin.ts";

type Accept = (path: string, handler: ByteStream) => ByteStreamHandler;

/** A server of WebSockets in memory. */
export interface SocketServer {
  readonly clock: FakeClock;
  /** The URLs of the sockets that were opened, each with the time. */
  readonly opened: { readonly url: string; readonly at: number }[];
  /** Opens a socket: the option `connect` of a client. */
  readonly connect: (url: string) => SocketLike;
  /** The sockets that are open. */
  readonly sockets: ReadonlySet<MemorySocket>;
  /** While it is false, sockets fail to open. */
  isUp: boolean;
  /** Ends all connections, as a server or a network that fails. */
  cut(): void;
  /** Lets time pass, and all work that is due. */
  pass(ms: number): Promise<void>;
}

/** A server of WebSockets whose streams a test plays. */
export function useSockets(accept: Accept, clock: FakeClock = createFakeClock()): SocketServer {
  const sockets = new Set<MemorySocket>();
  const server: SocketServer = {
    clock,
    opened: [],
    sockets,
    isUp: true,
    connect(url) {
      server.opened.push({ url, at: clock.now() });
      const socket = new MemorySocket(() => sockets.delete(socket));
      queueMicrotask(() => {
        if (!server.isUp) {
          socket.end(1006, "");
          return;
        }
        if (socket.readyState === 0) sockets.add(socket);
        socket.open((out) => accept(new URL(url).pathname, out));
      });
      return socket;
    },
    cut() {
      for (const socket of sockets) socket.end(1006, "");
    },
    async pass(ms) {
      await turns();
      clock.advance(ms);
      await turns();
    },
  };
  return server;
}

/** A server of clusters over WebSockets in memory. */
export interface ClusterServer extends SocketServer {
  /** Puts a cluster; the seconds tell its states apart. */
  put(id: string, seconds: number, options?: { ttlMs?: number; noStore?: boolean }): void;
  remove(id: string): void;
  /** The reasons of the rejections that the server has received. */
  readonly rejections: string[];
}

export function useClusterServer(): ClusterServer {
  const clock = createFakeClock();
  const cache = createCache({ types: envoyTypes, clock });
  cache.transaction(() => undefined);
  const server = createServer({ source: cache, clock });
  const rejections: string[] = [];
  server.events((event: ServerEvent) => {
    if (event.kind === "nack") rejections.push(event.error.message);
  });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await cache.close();
  });
  const sockets = useSockets((path, out) => {
    const handler = server.accept(path, "10.0.0.1:5000", out);
    if ("code" in handler) throw new Error(handler.message);
    return handler;
  }, clock);
  return Object.assign(sockets, {
    rejections,
    put(id: string, seconds: number, options: { ttlMs?: number; noStore?: boolean } = {}) {
      const name = nameOf(id);
      cache.put(clusters, { name, connectTimeout: { seconds: BigInt(seconds) } }, options);
    },
    remove(id: string) {
      cache.remove(clusters.typeUrl, nameOf(id));
    },
  });
}

/** The client's end of a WebSocket, as a browser shows it. Frames before a close arrive before it. */
export class MemorySocket implements SocketLike {
  readyState = 0;
  binaryType = "blob";
  /** The code with which the client has closed it. */
  closedWith: number | undefined;
  readonly #listeners: { readonly kind: string; readonly call: (event: never) => void }[] = [];
  readonly #onEnd: () => void;
  #server: ByteStreamHandler | undefined;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  addEventListener(kind: string, call: (event: never) => void): void {
    this.#listeners.push({ kind, call });
  }

  send(data: Uint8Array): void {
    if (this.readyState === 0) throw new Error("InvalidStateError");
    const bytes = new Uint8Array(data);
    if (this.readyState === 1) queueMicrotask(() => this.#server?.onMessage(bytes));
  }

  close(code: number, reason: string): void {
    if (this.readyState > 1) return;
    const wasOpen = this.readyState === 1;
    this.readyState = 2;
    this.closedWith = code;
    this.end(wasOpen ? code : 1006, reason);
  }

  /** Opens it at the server. */
  open(accept: (out: ByteStream) => ByteStreamHandler): void {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    this.#server = accept({
      send: ({ bytes }) => {
        const data = new Uint8Array(bytes).buffer;
        queueMicrotask(() => {
          if (this.readyState === 1) this.#emit("message", { data });
        });
        return true;
      },
      close: ({ code, message }) => {
        this.end(4_000 + code, message);
      },
    });
    if (this.readyState === 1) this.#emit("open", {});
  }

  /** Ends it at both sides, after what is on its way. */
  end(code: number, reason: string): void {
    this.#onEnd();
    queueMicrotask(() => {
      if (this.readyState === 3) return;
      this.readyState = 3;
      const server = this.#server;
      this.#server = undefined;
      const status = code < 4_000 ? StatusCode.UNAVAILABLE : code - 4_000;
      server?.onClosed({ code: status, message: reason });
      this.#emit("close", { code, reason });
    });
  }

  #emit(kind: string, event: object): void {
    for (const { kind: of, call } of this.#listeners) if (of === kind) call(event as never);
  }
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
