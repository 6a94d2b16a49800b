import { createServer } from "node:http";
import { createCache } from "@xdstp/cache";
import { envoyTypes } from "@xdstp/resource-types";
import { createHttpHandler, createHttpListener } from "@xdstp/transport-http/server";
import { clusterTemplate, clusterType } from "../clusters.ts";
import { listen } from "../server/listen.ts";
import { holdMs, pollPath, type PollServer } from "./poll-server.ts";

/** Native HTTP as the README of `@xdstp/transport-http` shows it. */
export async function startNativeXdstp(): Promise<PollServer> {
  const template = clusterTemplate();
  const cache = createCache({ types: envoyTypes });
  const change = (stamp: number): void => {
    cache.put({
      typeUrl: clusterType,
      name: `xdstp://bench${pollPath}`,
      value: template.fill(0, stamp),
    });
  };
  change(0);
  const handler = createHttpHandler({ source: cache, authority: "bench", limits: { holdMs } });
  const port = await listen(createServer(createHttpListener(handler)));
  return { port, change, waiting: () => handler.waiting };
}
