import type { NodeInfo } from "@xdstp/core";

/** Why the node of a message cannot be taken on a stream that has this one (S-NODE-2, S-NODE-3); undefined: it can. */
export function checkNode(
  held: NodeInfo | undefined,
  given: NodeInfo | undefined,
): string | undefined {
  if (held === undefined) return given === undefined ? "the first message has no node" : undefined;
  if (given === undefined) return undefined;
  return given.id === held.id && given.cluster === held.cluster
    ? undefined
    : "node.id or node.cluster changed on the stream";
}
