import { Agent, request } from "node:http";
import type { Socket } from "node:net";
import { onTestFinished } from "vitest";

/** One HTTP connection of a client. It is not opened a second time. */
export interface OpenConnection {
  /** True if the server has closed it. */
  readonly closed: boolean;
  /** Makes a request over it. Rejects where it is closed. */
  call(): Promise<{ readonly status: number; readonly body: string }>;
}

/** Opens a connection to a port of the loopback with its first request, from this address of the loopback, for the time of the test. */
export function openConnection(port: number, localAddress: string): OpenConnection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set<Socket>();
  let isClosed = false;
  onTestFinished(() => {
    agent.destroy();
  });
  return {
    get closed() {
      return isClosed;
    },
    async call() {
      if (isClosed) throw new Error("the connection is closed");
      return new Promise((resolve, reject) => {
        const call = request({ host: "127.0.0.1", port, localAddress, agent }, (response) => {
          let body = "";
          response.setEncoding("utf8");
          response.on("data", (part: string) => (body += part));
          response.on("error", reject);
          response.on("end", () => {
            resolve({ status: response.statusCode ?? 0, body });
          });
        });
        call.on("socket", (socket) => {
          if (sockets.has(socket)) return;
          sockets.add(socket);
          if (sockets.size > 1) isClosed = true;
          socket.on("close", () => {
            isClosed = true;
          });
        });
        call.on("error", reject);
        call.end();
      });
    },
  };
}
