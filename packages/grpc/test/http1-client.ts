import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** An HTTP/1.1 client that sends exactly what the test says. */
export interface Http1Client {
  readonly socket: Socket;
  /** Everything that was received so far. */
  text(): string;
  /** Resolves when a text has been received, once or `times` times. */
  received(text: string, times?: number): Promise<void>;
  /** Resolves when the connection is over, with everything that was received. */
  readonly closed: Promise<string>;
}

/** Connects for one test, and sends `first`. */
export async function useHttp1(port: number, first = ""): Promise<Http1Client> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  return watchHttp1(socket, first);
}

/** Watches a connection that is open. */
export function watchHttp1(socket: Socket, first = ""): Http1Client {
  let all = "";
  const { promise: closed, resolve } = Promise.withResolvers<string>();
  socket.on("error", () => {
    /* a cut may look like one */
  });
  socket.on("data", (chunk: Buffer) => {
    all += chunk.toString("latin1");
  });
  socket.once("end", () => {
    socket.destroy();
  });
  socket.once("close", () => {
    resolve(all);
  });
  if (first !== "") socket.write(first);
  return {
    socket,
    text: () => all,
    received: async (text, times = 1) => {
      while (all.split(text).length <= times) await once(socket, "data");
    },
    closed,
  };
}

/** Returns a request without a body, or with this one. */
export function http1Request(path: string, body?: string, headers = ""): string {
  return body === undefined
    ? `GET ${path} HTTP/1.1\r\nhost: a\r\n${headers}\r\n`
    : `POST ${path} HTTP/1.1\r\nhost: a\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;
}
