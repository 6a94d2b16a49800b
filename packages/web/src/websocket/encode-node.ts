import { concatBytes, lengthDelimited } from "@xdstp/core/wire";

/** A page, as the server sees it. */
export interface WebNode {
  /** Identifies it in the status and the events of the server. Default: `web`. */
  readonly id?: string;
  /** The group of clients that it belongs to. Default: none. */
  readonly cluster?: string;
}

/** The field numbers of `envoy.config.core.v3.Node`. */
const fields = { id: 1, cluster: 2, userAgentName: 6, clientFeatures: 10 } as const;

/** Encodes a node (C-NODE-1), which says that the client supports TTLs (C-NODE-5). */
export function encodeNode({ id = "web", cluster = "" }: WebNode): Uint8Array {
  return concatBytes([
    lengthDelimited(fields.id, id),
    lengthDelimited(fields.cluster, cluster),
    lengthDelimited(fields.userAgentName, "xdstp-web"),
    lengthDelimited(fields.clientFeatures, "xds.config.supports-resource-ttl"),
  ]);
}
