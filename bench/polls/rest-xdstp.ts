import { createCache } from "@xdstp/cache";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer } from "@xdstp/server";
import { createRestHandler, createRestRoute } from "@xdstp/transport-rest/server";

import { clusterTemplate, clusterType } from "../clusters.ts";
import { nameOf } from "../template.ts";
import { holdMs, type PollServer } from "./poll-server.ts";

/** Polls on the port of a server, as the README of `@xdstp/transport-rest` shows it. */
export async function startRestXdstp(resources: number): Promise<PollServer> {
  const template = clusterTemplate();
  const cache = createCache({ types: envoyTypes });
  const change = (stamp: number): void => {
    cache.transaction(({ put }) => {
      for (let index = 0; index < resources; index++)
        put({ typeUrl: clusterType, name: nameOf(index), value: template.fill(index, stamp) });
    });
  };
  change(0);
  const server = createServer({ source: cache, http: [(...request) => route(...request)] });
  const handler = createRestHandler({
    accept: server.accept.bind(server),
    registry: envoyRegistry(),
    limits: { mostWaitMs: holdMs },
  });
  let waiting = 0;
  const route = createRestRoute({
    ...handler,
    async handle(request) {
      waiting++;
      try {
        return await handler.handle(request);
      } finally {
        waiting--;
      }
    },
  });
  const { port } = await server.listen({ port: 0 });
  return { port, change, waiting: () => waiting };
}
