import { once } from "node:events";
import type { AddressInfo, Server } from "node:net";

/** Opens a free port on loopback, with a queue that takes all clients at once. */
export async function listen(server: Server): Promise<number> {
  server.listen({ host: "127.0.0.1", port: 0, backlog: 4096 });
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
