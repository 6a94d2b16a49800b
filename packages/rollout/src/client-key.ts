import type { NodeInfo, PeerIdentity } from "@xdstp/core";

/** The key that distinguishes clients: the verified identity, or else the node id; undefined where there is neither. */
export function clientKey({
  identity,
  node,
}: {
  /** As its wire has verified it. */
  readonly identity?: PeerIdentity;
  /** As it says. */
  readonly node?: Pick<NodeInfo, "id"> | undefined;
}): string | undefined {
  if (identity !== undefined)
    return `identity ${identity.uris[0] ?? identity.dnsNames[0] ?? identity.fingerprint}`;
  return node === undefined || node.id === "" ? undefined : `node ${node.id}`;
}
