import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { createCache } from "@xdstp/cache";
import { createFolderFeed } from "@xdstp/folder";
import { registryWith } from "@xdstp/protos/envoy";
import { createServer } from "@xdstp/server";
import { createHttpHandler, createHttpRoute } from "@xdstp/transport-http/server";

import { listen as listenForWebSockets } from "../websocket/websocket-server.ts";

const flags = join(import.meta.dirname, "../flags");
/** The folder of flags of the example `flags`. */
export const flagFolder: string = join(flags, "config");

/** A control plane that browsers can read. */
export interface FlagServer extends AsyncDisposable {
  /** The server over HTTP. */
  readonly origin: string;
  /** The server over WebSockets. */
  readonly webSocketUrl: string;
  /** Returns the number of open WebSockets. */
  clients(): number;
}

/**
 * Serves a folder of flags over gRPC, HTTP and WebSockets on loopback, once it is loaded: on free
 * ports, or in place of a server that has been stopped.
 */
export async function startFlagServer(
  dir: string,
  before?: Pick<FlagServer, "origin" | "webSocketUrl">,
): Promise<FlagServer> {
  const [httpPort, webSocketPort] = [before?.origin, before?.webSocketUrl].map((url) =>
    url === undefined ? 0 : Number(new URL(url).port),
  );
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
  const { host, port } = await server.listen({ host: "127.0.0.1", port: httpPort ?? 0 });
  const webSockets = await listenForWebSockets({ host, port: webSocketPort ?? 0 }, (...call) =>
    server.accept(...call),
  );
  return {
    origin: `http://${host}:${String(port)}`,
    webSocketUrl: webSockets.url,
    clients: () => webSockets.sockets.size,
    async [Symbol.asyncDispose]() {
      await webSockets.close();
      resources.close();
      await server.close({ graceMs: 0 });
      await cache.close();
    },
  };
}
