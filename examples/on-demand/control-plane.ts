import { createCache } from "@xdstp/cache";
import { envoyTypes, listener } from "@xdstp/resource-types";
import { createServer, type ServerEvent } from "@xdstp/server";

import { authority, firstHost, makeResources } from "./make-resources.ts";
import { createOnDemandFeed } from "./on-demand-feed.ts";
import type { Shops } from "./shops.ts";

/** A control plane that makes what it serves as it is asked for. */
export interface ControlPlane extends AsyncDisposable {
  readonly port: number;
}

/** The settings of {@link startControlPlane}. */
export interface ControlPlaneOptions {
  /** On loopback. Default: a free one. */
  readonly port?: number;
  /** Told what clients do. */
  readonly onEvent?: (event: ServerEvent) => void;
}

/** A feed on demand, a cache, a server. */
export async function startControlPlane(
  shops: Shops,
  { port = 0, onEvent }: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  // Names that other Envoys requested are not for everyone: `*` are the listeners, and the one virtual host to begin with.
  const wildcard = (typeUrl: string, name: string): boolean =>
    typeUrl === listener.typeUrl || name === firstHost;
  const cache = createCache({ types: envoyTypes, authorities: [authority], wildcard });
  const feed = createOnDemandFeed(makeResources(shops));
  shops.onChanged(() => {
    feed.changed();
  });
  cache.addFeed(feed);
  const server = createServer({
    source: cache,
    controlPlane: authority,
    ...(onEvent !== undefined && { onEvent }),
  });
  const address = await server.listen({ host: "127.0.0.1", port });
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      await server.close({ graceMs: 0 });
      await cache.close();
    },
  };
}
