import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Cache, createCache } from "@xdstp/cache";
import { authorityOf } from "@xdstp/uri";
import { createHttpHandler, createHttpListener } from "@xdstp/transport-http/server";
import { onTestFinished } from "vitest";
import { flagName, flagUrl } from "./flag.ts";

/** A server of native HTTP on loopback, and the cache that it serves. */
export interface HttpOrigin {
  readonly cache: Cache;
  readonly uri: string;
  /** The targets of all requests so far; it grows. */
  readonly requests: readonly string[];
  /** Puts a flag; the text is its value. */
  readonly put: (name: string, text: string) => void;
  /** Ends the server and its connections; the cache stays. */
  readonly down: () => Promise<void>;
  /** Starts the server again on its port. */
  readonly up: () => Promise<void>;
}

/** Serves an empty cache over native HTTP, and closes after the test. */
export async function useHttpOrigin(): Promise<HttpOrigin> {
  const cache = createCache();
  cache.commit({});
  const requests: string[] = [];
  const start = async (port: number): Promise<Server> => {
    const handler = createHttpHandler({
      source: cache,
      authority: authorityOf(flagName("a")) ?? "",
    });
    const listener = createHttpListener(handler);
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      listener(request, response);
    });
    server.on("close", () => {
      handler.close();
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };
  let server = await start(0);
  const { port } = server.address() as AddressInfo;
  const down = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  onTestFinished(async () => {
    await down();
    await cache.close();
  });
  return {
    cache,
    requests,
    uri: `http://127.0.0.1:${port}`,
    put(name, text) {
      cache.put({ typeUrl: flagUrl, name, value: Buffer.from(text) });
    },
    down,
    up: async () => {
      server = await start(port);
    },
  };
}
