import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type XdsServer } from "@xdstp/server";

/** An encoded resource. */
export interface PlaneResource {
  readonly typeUrl: string;
  readonly name: string;
  readonly value: Uint8Array;
}

/** A control plane of one authority that can die and come back on its port. */
export interface Plane {
  readonly uri: string;
  put(...resources: readonly PlaneResource[]): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** One of ours, on a free port of loopback. */
export async function startPlane(authority: string): Promise<Plane & AsyncDisposable> {
  const cache = createCache({ types: envoyTypes, authorities: [authority] });
  cache.commit({});
  let server: XdsServer | undefined;
  const listen = async (port: number): Promise<number> => {
    server = createServer({ source: cache, controlPlane: authority });
    return (await server.listen({ host: "127.0.0.1", port })).port;
  };
  const stop = async (): Promise<void> => {
    await server?.close({ graceMs: 0 });
  };
  const port = await listen(0);
  return {
    uri: `127.0.0.1:${String(port)}`,
    put(...resources) {
      cache.transaction(({ put }) => {
        for (const resource of resources) put(resource);
      });
      return Promise.resolve();
    },
    stop,
    start: async () => {
      await listen(port);
    },
    [Symbol.asyncDispose]: async () => {
      await stop();
      await cache.close();
    },
  };
}
