import { createCache } from "@xdstp/cache";
import { createChannels, createClient } from "@xdstp/client";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createServer } from "@xdstp/server";

import { listen, transports } from "./index.ts";

/** A client follows a server over WebSockets, and connects again after a loss. */
export async function runTour(say: (line: string) => void): Promise<void> {
  const cache = createCache({ types: envoyTypes });
  const put = (seconds: number): void => {
    cache.put(clusters, { name: "web", connectTimeout: { seconds: BigInt(seconds) } });
  };
  put(1);
  // `server.listen` would add gRPC; limits, policies and status hold for both.
  const server = createServer({ source: cache });
  const listener = await listen({ host: "127.0.0.1", port: 0 }, (...call) =>
    server.accept(...call),
  );
  const client = createClient({
    channels: createChannels({ transports }),
    bootstrap: {
      json: {
        node: { id: "example" },
        xds_servers: [{ server_uri: listener.url, channel_creds: [{ type: "insecure" }] }],
      },
    },
  });
  for await (const { value } of client.watch(ClusterSchema, "web")) {
    if (value === undefined) continue;
    const seconds = Number(value.connectTimeout?.seconds ?? 0n);
    say(`web: ${seconds} s`);
    if (seconds === 3) break;
    if (seconds === 2) {
      say("-- the connection is lost");
      for (const socket of listener.sockets) socket.terminate();
    }
    put(seconds + 1);
  }
  await client.close();
  await listener.close();
  await server.close({ graceMs: 0 });
  await cache.close();
}
