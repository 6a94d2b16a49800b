import { createCache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { clusters } from "@xdstp/resource-types/envoy";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { createHttpHandler, type HttpHandler } from "@xdstp/transport-http/server";
import { onTestFinished } from "vitest";

import type { FetchLike, StateStore, StoredResource } from "../src/index.ts";

export const type = "envoy.config.cluster.v3.Cluster";

/** Returns the name of a cluster. */
export function nameOf(id: string): string {
  return `xdstp://acme.example/${type}/${id}`;
}

/** A server of native HTTP in memory. */
export interface Origin {
  readonly clock: FakeClock;
  readonly handler: HttpHandler;
  /** The URLs that were requested. */
  readonly requested: string[];
  readonly fetch: FetchLike;
  /** While it is false, requests fail. */
  isUp: boolean;
  /** Puts a cluster; the seconds tell its states apart. */
  put(id: string, seconds: number, options?: { ttlMs?: number; noStore?: boolean }): void;
  remove(id: string): void;
  /** Lets time pass, and all work that is due. */
  pass(ms: number): Promise<void>;
}

export function useOrigin(): Origin {
  const clock = createFakeClock();
  const cache = createCache({ types: envoyTypes, clock });
  cache.transaction(() => undefined);
  const handler = createHttpHandler({ source: cache, registry: envoyRegistry(), clock });
  onTestFinished(() => {
    handler.close();
  });
  const requested: string[] = [];
  const origin: Origin = {
    clock,
    handler,
    requested,
    isUp: true,
    async fetch(text, { headers, signal }) {
      const url = new URL(text);
      requested.push(text);
      const fail = (): void => {
        if (!origin.isUp) throw new TypeError("fetch failed");
      };
      fail();
      const answer = await handler.handle({
        method: "GET",
        target: `${url.pathname}${url.search}`,
        host: "acme.example",
        header: (name) => headers[name],
        peer: "10.0.0.1:5000",
        signal,
      });
      signal.throwIfAborted();
      fail();
      const body = answer.body instanceof Uint8Array ? new Uint8Array(answer.body) : null;
      return new Response(body, { status: answer.status, headers: answer.headers });
    },
    put(id, seconds, options = {}) {
      cache.put(
        clusters,
        { name: nameOf(id), connectTimeout: { seconds: BigInt(seconds) } },
        options,
      );
    },
    remove(id) {
      cache.remove(clusters.typeUrl, nameOf(id));
    },
    async pass(ms) {
      await turns();
      clock.advance(ms);
      await turns();
    },
  };
  return origin;
}

/** A store in memory. */
export function memoryStore(): StateStore & { readonly held: Map<string, StoredResource> } {
  const held = new Map<string, StoredResource>();
  return {
    held,
    load: async (key) => Promise.resolve(held.get(key)),
    save: async (key, resource) => {
      held.set(key, resource);
      return Promise.resolve();
    },
    remove: async (key) => {
      held.delete(key);
      return Promise.resolve();
    },
  };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
