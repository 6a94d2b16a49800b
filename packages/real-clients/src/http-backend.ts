import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Starts an HTTP server that answers each request with `text`, for the time of the test; resolves with its port. */
export async function useHttpBackend(text: string): Promise<number> {
  const server = createServer((request, response) => {
    request.resume();
    response.end(text);
  });
  // Envoy keeps connections longer than this server would by default.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  return (server.address() as AddressInfo).port;
}
