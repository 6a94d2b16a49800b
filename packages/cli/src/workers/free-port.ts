import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { Endpoint } from "../parse-endpoint.ts";

/** Port 0 as a free one: several processes that come one after the other are to have the same. Others stay, and so does what cannot be listened on: who listens says why. */
export async function freePort(where: Endpoint): Promise<Endpoint> {
  if (where.port !== 0) return where;
  const server = createServer().listen({ ...where, exclusive: true });
  try {
    await once(server, "listening");
    return { ...where, port: (server.address() as AddressInfo).port };
  } catch {
    return where;
  } finally {
    server.close();
  }
}
