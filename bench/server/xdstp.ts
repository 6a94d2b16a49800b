import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer } from "@xdstp/server";
import { clusterTemplate, clusterType } from "../clusters.ts";
import type { Scenario } from "../scenario.ts";
import { nameOf } from "../template.ts";
import type { BenchServer } from "./bench-server.ts";
import { credentials } from "./credentials.ts";

/** A control plane as the README of the server shows it: no listener, and no option but a certificate where TLS is measured. */
export async function startXdstp({ resources, tls = false }: Scenario): Promise<BenchServer> {
  const template = clusterTemplate();
  const cache = createCache({ types: envoyTypes });
  const server = createServer({ source: cache, ...(tls ? { tls: credentials() } : {}) });
  const { port } = await server.listen({ port: 0 });
  cache.transaction(({ put }) => {
    for (let index = 0; index < resources; index++)
      put({ typeUrl: clusterType, name: nameOf(index), value: template.fill(index, 0) });
  });
  return {
    port,
    change(indexes, stamp) {
      for (const index of indexes)
        cache.put({
          typeUrl: clusterType,
          name: nameOf(index),
          value: template.fill(index, stamp),
        });
    },
    received: () => ({ unit: "messages", count: server.stats().wire.messagesReceived }),
  };
}
