import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A running shop. */
export interface ShopServer extends AsyncDisposable {
  readonly port: number;
}

/** Starts a shop that greets whoever comes, on a free port of loopback. */
export async function startShopServer(name: string): Promise<ShopServer> {
  const server = createServer((request, response) => {
    request.resume();
    response.end(`hello from ${name}`);
  });
  // Envoy keeps connections longer than this server would by default.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}
