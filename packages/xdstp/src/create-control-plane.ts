import { createCache, type Author, type Cache, type CacheOptions } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";

/** Options of {@link createControlPlane}: those of the server, and those of the cache. */
export interface ControlPlaneOptions extends Omit<ServerOptions, "source"> {
  /** Options of the cache. `types` replaces Envoy's types. */
  readonly cache?: CacheOptions;
}

/** A cache and the server that serves it. */
export interface ControlPlane
  extends
    Author,
    Pick<Cache, "addFeed">,
    Pick<XdsServer, "listen" | "waitForAck">,
    AsyncDisposable {
  /** Stores the resources: topics, checks, counters. */
  readonly cache: Cache;
  /** Serves them: status, events, certificates, statistics. */
  readonly server: XdsServer;
  /** Closes the server in order, then the cache with its feeds. */
  close(options?: Parameters<XdsServer["close"]>[0]): Promise<void>;
}

/**
 * Returns a control plane: write resources with `put`, `remove`, `transaction` and `addFeed`, and open the port with `listen`.
 * Throws an XdsError if an option is invalid.
 */
export function createControlPlane(options: ControlPlaneOptions = {}): ControlPlane {
  const { cache: cacheOptions, ...serverOptions } = options;
  const cache = createCache({ types: envoyTypes, ...cacheOptions });
  const server = createServer({ ...serverOptions, source: cache });
  const close: ControlPlane["close"] = async (how) => {
    await server.close(how);
    await cache.close();
  };
  return {
    cache,
    server,
    put: cache.put,
    remove: cache.remove,
    transaction: cache.transaction,
    addFeed: (feed, feedOptions) => cache.addFeed(feed, feedOptions),
    listen: (where) => server.listen(where),
    waitForAck: (revision, how) => server.waitForAck(revision, how),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
