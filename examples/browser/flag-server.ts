import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { createCache } from "@xdstp/cache";
import { createFolderFeed } from "@xdstp/folder";
import { registryWith } from "@xdstp/protos/envoy";
import { createServer } from "@xdstp/server";
import { createHttpHandler, createHttpRoute } from "@xdstp/transport-http/server";

const flags = join(import.meta.dirname, "../flags");
/** The folder of flags of the example `flags`. */
export const flagFolder: string = join(flags, "config");

/** A control plane that browsers can read. */
export interface FlagServer extends AsyncDisposable {
  readonly origin: string;
}

/** Serves a folder of flags over gRPC and HTTP on loopback, once it is loaded. */
export async function startFlagServer(dir: string, port = 0): Promise<FlagServer> {
  const registry = registryWith(await readFile(join(flags, "gen/flags.binpb")));
  const loaded = Promise.withResolvers<undefined>();
  const cache = createCache();
  cache.addFeed(
    createFolderFeed({
      dir,
      registry,
      onEvent(event) {
        if (event.kind === "loaded") loaded.resolve(undefined);
      },
    }),
  );
  await loaded.promise;
  // The page is of another origin than the flags, so it may read them only where this is allowed.
  const resources = createHttpHandler({ source: cache, registry, authority: "flags.example" });
  const server = createServer({ source: cache, http: [createHttpRoute(resources)] });
  const { host, port: listening } = await server.listen({ host: "127.0.0.1", port });
  return {
    origin: `http://${host}:${String(listening)}`,
    async [Symbol.asyncDispose]() {
      resources.close();
      await server.close({ graceMs: 0 });
      await cache.close();
    },
  };
}
