import type { AnyBootstrap, BootstrapNode } from "@xdstp/bootstrap";

/** Whom a worker asks, and as whom: the first, which tells the answers of one worker from those of another by its node. */
export function firstAsUpstream(path: string, node: BootstrapNode, worker: number): AnyBootstrap {
  // The first says what does not exist. As long as it says nothing it does not know, as when its own servers are away: that is not an answer (C-GRPC-10).
  const features = new Set(["resource_timer_is_transient_error"]);
  return {
    servers: [{ uri: `unix:${path}`, credentials: { type: "insecure" }, features }],
    node: { ...node, id: `${node.id}/worker-${worker}` },
    authorities: new Map(),
    certificateProviders: new Map(),
  };
}
