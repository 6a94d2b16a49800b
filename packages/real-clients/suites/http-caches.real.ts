import { createServer as createHttpServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { createCache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { type FollowedResource, followResource } from "@xdstp/transport-http/client";
import {
  createHttpHandler,
  createHttpListener,
  type HttpLimits,
} from "@xdstp/transport-http/server";
import { expect, it, onTestFinished } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { type HttpCache, startNginx, startVarnish } from "../src/http-cache.ts";
import { until } from "../src/until.ts";

const path = "/envoy.config.cluster.v3.Cluster/web";
const name = `xdstp://acme.example${path}`;
const clients = 500;

interface Origin {
  readonly port: number;
  /** Returns the targets of the long polls so far. */
  readonly polls: () => readonly string[];
  /** The greatest number of connections that were open at the same time. */
  readonly mostConnections: () => number;
  readonly put: (seconds: number) => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
}

interface Running {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** A server of native HTTP that counts what reaches it. */
async function useOrigin(limits: Partial<HttpLimits> = {}): Promise<Origin> {
  const cache = createCache({ types: envoyTypes });
  const requests: string[] = [];
  const open = new Set<Socket>();
  let most = 0;
  const start = async (port: number): Promise<Running> => {
    const handler = createHttpHandler({
      source: cache,
      authority: "acme.example",
      registry: envoyRegistry(),
      limits,
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
      port: (server.address() as AddressInfo).port,
      async close() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
        handler.close();
      },
    };
  };
  let now = await start(0);
  const { port } = now;
  onTestFinished(() => now.close());
  return {
    port,
    polls: () => requests.filter((target) => target.includes("after=")),
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

interface Clients {
  readonly count: number;
  /** Returns the number of clients whose resource has the timeout. */
  readonly have: (seconds: number) => number;
  /** Returns the errors of the clients, each once. */
  readonly errors: () => readonly string[];
}

/** Starts clients that follow the resource. */
function useClients(port: number, count: number, events = false): Clients {
  const followed: FollowedResource[] = Array.from({ length: count }, () =>
    followResource(
      { url: `http://127.0.0.1:${port}${path}`, form: "json", events },
      () => undefined,
    ),
  );
  onTestFinished(() => {
    for (const one of followed) one.close();
  });
  return {
    count,
    have: (seconds) =>
      followed.filter(({ state }) => state.kind === "found" && secondsIn(state.body) === seconds)
        .length,
    errors: () => [
      ...new Set(
        followed.flatMap(({ state }) => (state.error === undefined ? [] : [state.error.message])),
      ),
    ],
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
      const followers = useClients(port, clients);
      await allHave(followers, 1);
      const took: number[] = [];
      for (let seconds = 2; seconds <= 6; seconds++) {
        await until(
          "one poll waits at the origin for each state so far",
          () => origin.polls().length === seconds - 1,
          origin.polls,
        );
        const began = performance.now();
        origin.put(seconds);
        await allHave(followers, seconds);
        took.push(Math.round(performance.now() - began));
      }
      await until("the last poll waits", () => origin.polls().length === 6, origin.polls);
      console.log(`${program}: ${clients} clients have a change after ${took.join(", ")} ms`);
      expect(new Set(origin.polls()).size).toBe(6);
      // A cache may open the next connection before it keeps the one before.
      expect(origin.mostConnections()).toBeLessThanOrEqual(2);
    });

    it("keeps one request at the origin while nothing changes, and passes on the next change [S-HTTP-13] [S-HTTP-14]", async () => {
      const origin = await useOrigin({ holdMs: 1_000 });
      origin.put(1);
      const { port } = await start(command, origin.port);
      const followers = useClients(port, clients);
      await allHave(followers, 1);
      const began = performance.now();
      await until("five polls have ended", () => origin.polls().length >= 6, origin.polls);
      const idleMs = performance.now() - began;
      const changed = performance.now();
      origin.put(2);
      await allHave(followers, 2);
      const tookMs = Math.round(performance.now() - changed);
      console.log(
        `${program}: after idle polls ${clients} clients have a change after ${tookMs} ms`,
      );
      expect(new Set(origin.polls().slice(0, 6)).size).toBe(1);
      // Five polls of a second each; the first one may have begun before.
      expect(idleMs).toBeGreaterThan(3_000);
      // A cache may open the next connection before it keeps the one before.
      expect(origin.mostConnections()).toBeLessThanOrEqual(2);
    });

    it("passes on the events of clients, which keep the last state while the origin is away [B-HTTP-15]", async () => {
      const origin = await useOrigin();
      origin.put(1);
      const { port } = await start(command, origin.port);
      const followers = useClients(port, 5, true);
      await allHave(followers, 1);
      origin.put(2);
      await allHave(followers, 2);
      await origin.down();
      await until("the clients notice it", () => followers.errors().length > 0);
      expect(followers.have(2)).toBe(5);
      origin.put(3);
      await origin.up();
      await allHave(followers, 3);
      expect([followers.errors(), origin.polls()]).toEqual([[], []]);
    });

    it("serves the last state while the origin is away, also to a new client, and the next one when it is back [C-HTTP-7] [S-HTTP-6]", async () => {
      const origin = await useOrigin();
      origin.put(1);
      const { port } = await start(command, origin.port);
      const first = useClients(port, 20);
      await allHave(first, 1);
      await origin.down();
      await until("the clients notice it", () => first.errors().length > 0);
      const second = useClients(port, 1);
      await allHave(second, 1);
      expect(first.have(1)).toBe(20);
      origin.put(2);
      await origin.up();
      await allHave(first, 2);
      await allHave(second, 2);
    });
  });

async function allHave({ count, have, errors }: Clients, seconds: number): Promise<void> {
  await until(
    `all have ${seconds} s`,
    () => have(seconds) === count,
    () => ({ have: have(seconds), errors: errors() }),
  );
}
