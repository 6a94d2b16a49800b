import { fromBinary } from "@bufbuild/protobuf";
import type { NodeClaim } from "@xdstp/core";
import { concatBytes, walkFields, WireType } from "@xdstp/core/wire";
import { type CallPeer, principalOf as principalOfNames } from "@xdstp/grpc/server";
import { nodeInfoOf, withoutExtensions } from "@xdstp/protocol/server";
import { type Node, NodeSchema } from "@xdstp/protos/discovery";

/** By which a caller is counted: its certified names, or where there are none its address without the port; undefined is the program itself. */
export function principalOf(peer: CallPeer | undefined): string {
  return peer === undefined
    ? ""
    : principalOfNames(peer.identity, peer.address.replace(/:\d+$/, ""));
}

/** The field of the node in a request. */
const NODE = { delta: 1, sotw: 2 } as const;

/** What the node of a request says, without reading the rest of it; undefined: there is none. Throws on a node that cannot be decoded. */
export function nodeClaim(message: Uint8Array, variant: "delta" | "sotw"): NodeClaim | undefined {
  const short = withoutExtensions(message, variant);
  const parts: Uint8Array[] = [];
  walkFields(short, (field, start, end, wireType) => {
    if (field === NODE[variant] && wireType === WireType.LENGTH_DELIMITED)
      parts.push(short.subarray(start, end));
    return true;
  });
  return parts.length === 0 ? undefined : claimOf(fromBinary(NodeSchema, concatBytes(parts)));
}

/** What a decoded node claims. */
export function claimOf(node: Node): NodeClaim {
  const { metadata, locality } = node;
  const place = locality && {
    region: locality.region,
    zone: locality.zone,
    subZone: locality.subZone,
  };
  return {
    ...nodeInfoOf(node),
    ...(place !== undefined && { place }),
    ...(metadata !== undefined && { metadata }),
  };
}
