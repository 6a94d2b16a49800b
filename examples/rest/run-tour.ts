import { createCache } from "@xdstp/cache";
import { createClient } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createServer } from "@xdstp/server";
import { createRestHandler, createRestRoute } from "@xdstp/transport-rest/server";

import { FetchPoller } from "./poll-by-fetch.ts";

/** A server answers polls: of a script, with its answers, and of a client that waits for changes. */
export async function runTour(say: (line: string) => void): Promise<void> {
  const cache = createCache({ types: envoyTypes });
  const put = (seconds: number): void => {
    cache.put(clusters, { name: "web", connectTimeout: { seconds: BigInt(seconds) } });
  };
  put(1);
  // gRPC and REST on one port: limits, policies and status hold for both.
  const server = createServer({ source: cache, http: [(...request) => rest(...request)] });
  const handler = createRestHandler({
    accept: (...call) => server.accept(...call),
    registry: envoyRegistry(),
  });
  const rest = createRestRoute(handler);
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });

  const script = new FetchPoller(`http://127.0.0.1:${port}`, "script");
  const first = await script.poll();
  say(`script: ${first.status} ${first.names?.join() ?? ""}`);
  say(`script: ${(await script.poll()).status}, nothing new`);

  // The server holds each poll until there is something new, so a change arrives at once.
  const client = createClient({
    bootstrap: {
      node: { id: "client", cluster: "" },
      sources: [
        {
          servers: [
            {
              uri: `127.0.0.1:${port}`,
              credentials: { type: "insecure" },
              features: new Set(),
              rest: { waitMs: 20_000 },
            },
          ],
        },
      ],
    },
  });
  for await (const { value } of client.watch(ClusterSchema, "web")) {
    const seconds = Number(value?.connectTimeout?.seconds ?? 0n);
    say(`client: web ${seconds} s`);
    if (seconds === 2) break;
    say("-- web: 2 s");
    put(2);
  }
  await client.close();

  await script.poll();
  await script.reject("2 s is too long for this script");
  for (const { node, types } of server.status())
    for (const { lastError } of types)
      if (lastError !== undefined) say(`${node?.id ?? ""} rejects: ${lastError.message}`);
  handler.close();
  await server.close({ graceMs: 0 });
  await cache.close();
}
