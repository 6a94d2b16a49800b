import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** An HTTP server that counts its connections. */
export interface CountingBackend {
  readonly port: number;
  /** The connections that are open. */
  readonly open: number;
  /** The connections that were opened since the start. */
  readonly accepted: number;
  /** The requests that wait for their answer. */
  readonly held: number;
  /** From now on no request is answered, until the function that it returns is called. */
  hold(): () => void;
}

/** Starts an HTTP server that answers each request with `text`, for the time of the test. */
export async function useCountingBackend(text: string): Promise<CountingBackend> {
  let open = 0;
  let accepted = 0;
  let waiting: ServerResponse[] | undefined;
  const server = createServer((request, response) => {
    request.resume();
    if (waiting === undefined) response.end(text);
    else waiting.push(response);
  });
  server.keepAliveTimeout = 600_000;
  server.on("connection", (socket) => {
    open++;
    accepted++;
    socket.on("close", () => open--);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return {
    port: (server.address() as AddressInfo).port,
    get open() {
      return open;
    },
    get accepted() {
      return accepted;
    },
    get held() {
      return waiting?.length ?? 0;
    },
    hold() {
      const held: ServerResponse[] = [];
      waiting = held;
      return () => {
        waiting = undefined;
        for (const response of held) response.end(text);
      };
    },
  };
}
