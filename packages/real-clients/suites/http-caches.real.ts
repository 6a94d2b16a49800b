import { createServer as createHttpServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createCache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { type FollowedResource, followResource } from "@xdstp/transport-http/client";
import { createHttpHandler, createHttpListener } from "@xdstp/transport-http/server";
import { expect, it, onTestFinished } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { type HttpCache, startNginx, startVarnish } from "../src/http-cache.ts";
import { until } from "../src/until.ts";

const path = "/envoy.config.cluster.v3.Cluster/web";
const name = `xdstp://acme.example${path}`;
const clients = 500;

interface Origin {
  readonly port: number;
  /** The targets of all requests so far; it grows. */
  readonly requests: string[];
  /** The greatest number of connections that were open at the same time. */
  readonly mostConnections: () => number;
  readonly put: (seconds: number) => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
}

/** A server of native HTTP that counts what reaches it. */
async function useOrigin(): Promise<Origin> {
  const cache = createCache({ types: envoyTypes });
  const requests: string[] = [];
  const open = new Set<Socket>();
  let most = 0;
  const start = async (port: number): Promise<{ server: Server; close: () => Promise<void> }> => {
    const handler = createHttpHandler({
      source: cache,
      authority: "acme.example",
      registry: envoyRegistry(),
    });
    const listener = createHttpListener(handler);
    const server = createHttpServer((request, response) => {
      requests.push(request.url ?? "");
      listener(request, response);
    });
    server.on("connection", (socket: Socket) => {
      open.add(socket);
      most = Math.max(most, open.size);
      socket.on("close", () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return {
      server,
      async close() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        handler.close();
      },
    };
  };
  let now = await start(0);
  const { port } = now.server.address() as AddressInfo;
  onTestFinished(() => now.close());
  return {
    port,
    requests,
    mostConnections: () => most,
    put(seconds) {
      cache.put(clusters, { name, connectTimeout: { seconds: BigInt(seconds) } });
    },
    down: async () => now.close(),
    up: async () => {
      now = await start(port);
    },
  };
}

/** Follows the resource by many clients. Returns how many have a version. */
function useClients(port: number, count: number): { readonly have: (seconds: number) => number } {
  const followed: FollowedResource[] = Array.from({ length: count }, () =>
    followResource({ url: `http://127.0.0.1:${port}${path}`, form: "json" }, () => undefined),
  );
  onTestFinished(() => {
    for (const one of followed) one.close();
  });
  return {
    have: (seconds) =>
      followed.filter(({ state }) => state.kind === "found" && secondsIn(state.body) === seconds)
        .length,
  };
}

function secondsIn(body: Uint8Array): number {
  const { connectTimeout } = JSON.parse(new TextDecoder().decode(body)) as {
    readonly connectTimeout: string;
  };
  return Number.parseInt(connectTimeout, 10);
}

const caches = [
  ["nginx", startNginx],
  ["varnish", startVarnish],
] as const satisfies readonly (readonly [
  string,
  (command: string, origin: number) => Promise<HttpCache>,
])[];

for (const [program, start] of caches)
  describeProgram(program, "a cache in front of native HTTP", (command) => {
    it(`makes one request to the origin for each change out of those of ${clients} clients, over one connection [S-HTTP-13] [S-HTTP-14]`, async () => {
      const origin = await useOrigin();
      origin.put(1);
      const { port } = await start(command, origin.port);
      const { have } = useClients(port, clients);
      await until(
        "all have the first state",
        () => have(1) === clients,
        () => have(1),
      );
      const polls = (): readonly string[] =>
        origin.requests.filter((target) => target.includes("after="));
      await until("a poll waits at the origin", () => polls().length > 0);
      const took: number[] = [];
      for (let seconds = 2; seconds <= 6; seconds++) {
        const before = polls().length;
        const began = performance.now();
        origin.put(seconds);
        await until(
          "all have the change",
          () => have(seconds) === clients,
          () => have(seconds),
        );
        took.push(Math.round(performance.now() - began));
        await until(
          "the next poll waits",
          () => polls().length > before,
          () => origin.requests,
        );
      }
      console.log(
        `${program}: milliseconds until ${clients} clients have a change: ${took.join(", ")}`,
      );
      // One poll for each of the six states.
      expect(new Set(polls()).size).toBe(6);
      expect(polls()).toHaveLength(6);
      expect(origin.mostConnections()).toBeLessThanOrEqual(2);
    });

    it("serves the last state while the origin is away, also to a new client, and the next one when it is back [C-HTTP-7] [S-HTTP-6]", async () => {
      const origin = await useOrigin();
      origin.put(1);
      const { port } = await start(command, origin.port);
      const first = useClients(port, 20);
      await until("all have the first state", () => first.have(1) === 20);
      await origin.down();
      const second = useClients(port, 1);
      await until("a new client has it too", () => second.have(1) === 1);
      expect(first.have(1)).toBe(20);
      origin.put(2);
      await origin.up();
      await until("all have the change", () => first.have(2) + second.have(2) === 21);
    });
  });
