import type { ByteStream, ByteStreamHandler, Status } from "@xdstp/core";

/** A wire in memory between a client and a server. Messages arrive when the test delivers them, and either side may be cut off at any time. */
export interface MemoryLink {
  /** Opens a stream of the client. */
  readonly connect: (handler: ByteStreamHandler) => ByteStream;
  /** Streams opened so far. */
  readonly streams: number;
  /** Delivers the oldest message to one side. The first call reports to the client that the server is reached instead. False: there is no message, or the client is paused. */
  deliver(to: "client" | "server"): boolean;
  /** Ends the stream; what is on its way is lost. */
  cut(): void;
}

/** Callbacks for each message that arrives. */
export interface LinkSpy {
  onRequest(stream: number, bytes: Uint8Array): void;
  onResponse(stream: number, bytes: Uint8Array): void;
}

/** `serve` opens a stream of the server. */
export function createMemoryLink(
  serve: (out: ByteStream) => ByteStreamHandler,
  spy: LinkSpy,
): MemoryLink {
  let streams = 0;
  let now: Stream | undefined;
  return {
    connect(handler) {
      now = createStream(handler, serve, ++streams, spy);
      return now.out;
    },
    get streams() {
      return streams;
    },
    deliver: (to) => now?.deliver(to) ?? false,
    cut() {
      now?.close({ code: 14, message: "cut" });
    },
  };
}

interface Stream {
  readonly out: ByteStream;
  deliver(to: "client" | "server"): boolean;
  close(status: Status): void;
}

function createStream(
  client: ByteStreamHandler,
  serve: (out: ByteStream) => ByteStreamHandler,
  id: number,
  spy: LinkSpy,
): Stream {
  const queues = { client: [] as Uint8Array[], server: [] as Uint8Array[] };
  let [open, reached, paused] = [true, false, false];
  const close = (status: Status): void => {
    if (!open) return;
    open = false;
    server.onClosed(status);
    client.onClosed(status);
  };
  const server = serve({
    send: ({ bytes }) => (queues.client.push(Uint8Array.from(bytes)), true),
    close,
  });
  const deliver = (to: "client" | "server"): boolean => {
    if (!open || (to === "client" && paused)) return false;
    if (!reached) {
      reached = true;
      client.onOpened?.();
      return true;
    }
    const message = queues[to].shift();
    if (message === undefined) return false;
    if (to === "server") spy.onRequest(id, message);
    else spy.onResponse(id, message);
    (to === "server" ? server : client).onMessage(message);
    return true;
  };
  const out: ByteStream = {
    opening: true,
    send: ({ bytes }) => (queues.server.push(Uint8Array.from(bytes)), true),
    close,
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
  };
  return { out, deliver, close };
}
