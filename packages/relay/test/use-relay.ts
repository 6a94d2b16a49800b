import { createChannels, parseBootstrap, type Bootstrap } from "@xdstp/bootstrap";
import { createCache, type Cache } from "@xdstp/cache";
import { createClient, type Client, type ClientOptions } from "@xdstp/client";
import { createServer, type ServerEvent, type XdsServer } from "@xdstp/server";
import { onTestFinished } from "vitest";

import { createRelay, type Relay, type RelayOptions } from "../src/index.ts";

/** A management server on loopback, and the cache that it serves. */
export interface Origin {
  readonly cache: Cache;
  readonly server: XdsServer;
  readonly uri: string;
  readonly events: ServerEvent[];
  readonly close: () => Promise<void>;
}

/** A relay and its server. */
export interface ServedRelay extends Origin {
  readonly relay: Relay;
}

/**
 * Serves an empty cache, and closes after the test. `port`: the port of an origin that was closed
 * before.
 */
export async function useOrigin(port = 0): Promise<Origin> {
  const cache = createCache();
  cache.commit({});
  return serve(cache, port, () => cache.close());
}

/** Creates a relay of these servers, closed after the test, with short delays between streams. */
export async function useRelay(
  uris: readonly string[],
  options: RelayOptions = {},
): Promise<ServedRelay> {
  const relay = createRelay({
    bootstrap: bootstrapOf(uris, "relay"),
    backoff: { initialMs: 20, maxMs: 100 },
    ...options,
  });
  return { relay, ...(await serve(relay.cache, 0, () => relay.close(), relay.serving)) };
}

/** Creates a client of these servers, closed after the test. `id`: the id of its node. */
export function useClient(
  uris: readonly string[],
  { id = "me", ...options }: ClientOptions & { readonly id?: string } = {},
): Client {
  const client = createClient({
    bootstrap: bootstrapOf(uris, id),
    channels: createChannels(),
    backoff: { initialMs: 20, maxMs: 100 },
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

function bootstrapOf(uris: readonly string[], id: string): Bootstrap {
  return parseBootstrap({
    xds_servers: uris.map((server_uri) => ({ server_uri, channel_creds: [{ type: "insecure" }] })),
    node: { id },
  });
}

async function serve(
  cache: Cache,
  port: number,
  end: () => Promise<void>,
  serving: Relay["serving"] = { source: cache },
): Promise<Origin> {
  const events: ServerEvent[] = [];
  const server = createServer({
    ...serving,
    onEvent: (event) => {
      events.push(event);
    },
  });
  const listening = await server.listen({ host: "127.0.0.1", port });
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 0 });
    await end();
  };
  onTestFinished(close);
  return { cache, server, events, uri: `127.0.0.1:${listening.port}`, close };
}
