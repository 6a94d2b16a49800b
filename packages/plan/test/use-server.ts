import { createNodeCaches, nodeField, type NodeCaches } from "@xdstp/cache";
import type { Clock, Put } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import { onTestFinished } from "vitest";

import { type Plan, planChange, plannedResource, readServed } from "../src/index.ts";

/** A server with content, and a way to plan other content for it. */
export interface PlannedServer {
  readonly server: XdsServer;
  readonly nodes: NodeCaches;
  readonly plan: (next: readonly Put[]) => Promise<Plan>;
}

/** Makes a server with these resources; it is closed after the test. */
export function useServer(
  puts: readonly Put[],
  { clock, ...options }: Partial<ServerOptions> & { readonly clock?: Clock } = {},
): PlannedServer {
  const time = clock && { clock };
  const nodes = createNodeCaches({ keyOf: nodeField("cluster"), types: envoyTypes, ...time });
  nodes.shared.commit({ put: puts });
  const server = createServer({ ...nodes.serving, ...time, ...options });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await nodes.close();
  });
  return {
    server,
    nodes,
    async plan(next) {
      const planned = next.map((put) => plannedResource(put));
      const served = await readServed(async (request) => server.clientStatus(request), planned);
      return planChange({ served, next: planned, registry: envoyRegistry() });
    },
  };
}
