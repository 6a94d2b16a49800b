import { encodeNode, parseBootstrap, type Bootstrap, type Channels } from "@xdstp/bootstrap";
import { createCache, type Cache } from "@xdstp/cache";
import type { Topic } from "@xdstp/core";
import { createScheduler } from "@xdstp/protocol/server";
import { createFederation, createSources } from "@xdstp/federation";
import { createServer, type ServerOptions } from "@xdstp/server";
import {
  createFakeClock,
  createNetwork,
  createSeededRandom,
  createStepper,
  type FakeClock,
  type Network,
  type SeededRandom,
} from "@xdstp/testing";

import { createRelay, type Relay } from "../src/index.ts";

/** The cluster of the relay itself. */
export const OWN = "relays";

/** A client and its watches. */
export interface TenantClient {
  readonly cluster: string;
  readonly cache: Cache;
  readonly watched: Map<string, Topic>;
}

/**
 * A control plane that has separate opaque names for each cluster, a relay with a tenant for each,
 * and clients of both variants, in a network in memory.
 */
export interface TenantWorld {
  readonly random: SeededRandom;
  readonly network: Network;
  readonly relay: Relay;
  readonly clients: readonly TenantClient[];
  /** Returns the resources of the control plane for a cluster. */
  readonly originOf: (cluster: string) => Cache;
  pass(ms: number): Promise<void>;
}

/** Creates a world without subscriptions. The same seed results in the same world. */
export function createTenantWorld(seed: number, clusters: readonly string[]): TenantWorld {
  const random = createSeededRandom(seed);
  const clock = createFakeClock();
  const network = createNetwork({ clock, random: random.fork(1) });
  const channels: Channels = {
    acquire: ({ uri }) => ({
      open: ({ path }, handler) => network.connect(`${uri}${path}`, handler),
      release: () => undefined,
    }),
  };
  const origins = new Map(
    [OWN, ...clusters].map((cluster) => [cluster, readyCache(clock)] as const),
  );
  const shared = { channels, clock, random: () => random.next() };
  const originOf = (cluster: string): Cache => origins.get(cluster) ?? readyCache(clock);
  serve(network, "origin", {
    source: originOf(OWN),
    sourceFor: ({ node }) => origins.get(node?.cluster ?? ""),
    clock,
  });
  const relay = createRelay({
    ...shared,
    bootstrap: bootstrapOf("origin", "relay", OWN),
    variant: random.pick(["delta", "sotw"]),
    opaqueKey: ["cluster"],
    maxTenants: random.between(2, 3),
    lingerMs: 20_000,
  });
  serve(network, "relay", { ...relay.serving, clock });
  const client = (index: number): TenantClient => {
    const cluster = random.pick(clusters);
    const { servers, node } = bootstrapOf("relay", `c${index}`, cluster);
    const cache = createCache({ clock });
    const sources = createSources([{ servers }], {
      ...shared,
      node: encodeNode(node),
      variant: random.pick(["delta", "sotw"]),
    });
    cache.addFeed(createFederation({ sources, clock, random: shared.random }));
    return { cluster, cache, watched: new Map() };
  };
  const stepper = createStepper({ clock, turn: microtasks });
  return {
    random,
    network,
    relay,
    clients: Array.from({ length: 6 }, (_, index) => client(index)),
    originOf,
    pass: async (ms) => stepper.run(ms),
  };
}

function readyCache(clock: FakeClock): Cache {
  const cache = createCache({ clock });
  cache.commit({});
  return cache;
}

function bootstrapOf(uri: string, id: string, cluster: string): Bootstrap {
  return parseBootstrap({
    xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
    node: { id, cluster },
  });
}

function serve(
  network: Network,
  address: string,
  options: Omit<ServerOptions, "clock"> & { readonly clock: FakeClock },
): void {
  const server = createServer({
    ...options,
    scheduler: createScheduler({
      later: (callback) => {
        options.clock.after(0, callback);
      },
    }),
  });
  for (const method of ["DeltaAggregatedResources", "StreamAggregatedResources"]) {
    const path = `/envoy.service.discovery.v3.AggregatedDiscoveryService/${method}`;
    network.listen(`${address}${path}`, (out) => {
      const handler = server.accept(path, "memory", out);
      if ("code" in handler) throw new Error(handler.message);
      return handler;
    });
  }
}

async function microtasks(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}
