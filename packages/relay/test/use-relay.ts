import {
  type AnyBootstrap,
  createChannels,
  parseBootstrap,
  type SourceConfig,
} from "@xdstp/bootstrap";
import { createCache, type Cache } from "@xdstp/cache";
import { createClient, type Client, type ClientOptions } from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { createServer, type ServerEvent, type XdsServer } from "@xdstp/server";
import { createRestHandler, createRestRoute } from "@xdstp/transport-rest/server";
import { onTestFinished } from "vitest";

import { createRelay, type Relay, type RelayOptions } from "../src/index.ts";

/** A management server on loopback, over gRPC and REST, and the cache that it serves. */
export interface Origin {
  readonly cache: Cache;
  readonly server: XdsServer;
  readonly uri: string;
  readonly events: ServerEvent[];
  /** The paths of requests over plain HTTP, each once. */
  readonly polled: ReadonlySet<string>;
  readonly close: () => Promise<void>;
}

/** A bootstrap that a test configures. */
export interface TestBootstrap {
  readonly node: { readonly id: string; readonly cluster: string };
  readonly sources: readonly SourceConfig[];
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

/** Creates a relay of these servers, as targets of gRPC or a bootstrap, closed after the test, with short delays between streams. */
export async function useRelay(
  servers: readonly string[] | TestBootstrap,
  options: RelayOptions = {},
): Promise<ServedRelay> {
  const relay = createRelay({
    bootstrap: bootstrapOf(servers, "relay"),
    backoff: { initialMs: 20, maxMs: 100 },
    ...options,
  });
  return { relay, ...(await serve(relay.cache, 0, () => relay.close(), relay.serving)) };
}

/** Creates a client of these servers, closed after the test. `id`: the id of its node. */
export function useClient(
  servers: readonly string[] | TestBootstrap,
  { id = "me", ...options }: ClientOptions & { readonly id?: string } = {},
): Client {
  const client = createClient({
    bootstrap: bootstrapOf(servers, id),
    channels: createChannels(),
    backoff: { initialMs: 20, maxMs: 100 },
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

function bootstrapOf(servers: readonly string[] | TestBootstrap, id: string): AnyBootstrap {
  if ("node" in servers) return servers;
  return parseBootstrap({
    xds_servers: servers.map((server_uri) => ({
      server_uri,
      channel_creds: [{ type: "insecure" }],
    })),
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
  const polled = new Set<string>();
  const server: XdsServer = createServer({
    ...serving,
    http: [
      (request, ...call) => {
        polled.add(request.url ?? "");
        return route(request, ...call);
      },
    ],
    onEvent: (event) => {
      events.push(event);
    },
  });
  const polls = createRestHandler({
    accept: (...call) => server.accept(...call),
    registry: envoyRegistry(),
  });
  const route = createRestRoute(polls);
  const listening = await server.listen({ host: "127.0.0.1", port });
  const close = async (): Promise<void> => {
    polls.close();
    await server.close({ graceMs: 0 });
    await end();
  };
  onTestFinished(close);
  return { cache, server, events, polled, uri: `127.0.0.1:${listening.port}`, close };
}
