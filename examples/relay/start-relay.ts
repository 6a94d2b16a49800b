import { parseBootstrap } from "@xdstp/client";
import { createRelay } from "@xdstp/relay";
import { createServer } from "@xdstp/server";

/** A relay that serves on a port. */
export interface ServingRelay {
  readonly uri: string;
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts a relay of an origin, on a port of loopback, with what the directory remembers. */
export async function startRelay(origin: string, dir: string, port = 0): Promise<ServingRelay> {
  const bootstrap = parseBootstrap({
    xds_servers: [{ server_uri: origin, channel_creds: [{ type: "insecure" }] }],
    node: { id: "relay" },
  });
  const relay = createRelay({
    bootstrap,
    snapshot: { dir },
    backoff: { initialMs: 100, maxMs: 500 },
  });
  const server = createServer({ ...relay.serving, controlPlane: "relay" });
  const address = await server.listen({ host: "127.0.0.1", port });
  return {
    uri: `127.0.0.1:${String(address.port)}`,
    port: address.port,
    async stop() {
      await server.close({ graceMs: 0 });
      await relay.close();
    },
  };
}
