import { createCache, type Cache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type XdsServer } from "@xdstp/server";
import { onTestFinished } from "vitest";

import {
  createChannels,
  createClient,
  parseBootstrap,
  type Client,
  type ClientNotice,
  type ClientOptions,
} from "../src/index.ts";

/** A management server on loopback, and the cache that it serves. */
export interface Origin {
  readonly cache: Cache;
  readonly server: XdsServer;
  readonly uri: string;
  readonly close: () => Promise<void>;
}

/**
 * Serves an empty cache, and closes after the test. `port`: the port of an origin that was closed
 * before.
 */
export async function useOrigin(port = 0): Promise<Origin> {
  const cache = createCache({ types: envoyTypes });
  cache.commit({});
  const server = createServer({ source: cache });
  const listening = await server.listen({ host: "127.0.0.1", port });
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 0 });
    await cache.close();
  };
  onTestFinished(close);
  return { cache, server, uri: `127.0.0.1:${listening.port}`, close };
}

/** Creates a client of these servers, closed after the test, with short delays between streams. */
export function useClient(
  uris: readonly string[],
  options: ClientOptions = {},
): { readonly client: Client; readonly events: ClientNotice[] } {
  const events: ClientNotice[] = [];
  const client = createClient({
    bootstrap: parseBootstrap({
      xds_servers: uris.map((server_uri) => ({
        server_uri,
        channel_creds: [{ type: "insecure" }],
      })),
      node: { id: "me" },
    }),
    channels: createChannels(),
    backoff: { initialMs: 20, maxMs: 100 },
    onEvent: (event) => {
      if ("server" in event && event.kind !== "foreign") events.push(event);
    },
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, events };
}
