import { fromBinary } from "@bufbuild/protobuf";
import type { NodeClaim } from "@xdstp/core";
import { concatBytes, walkFields, WireType } from "@xdstp/core/wire";
import { type CallPeer, principalOf as principalOfNames } from "@xdstp/grpc/server";
import { nodeInfoOf, withoutExtensions } from "@xdstp/protocol/server";
import { type Node, NodeSchema } from "@xdstp/protos/discovery";

/**
 * Returns the identity by which calls are counted: the names in the certificate, or else the
 * address without the port. `undefined` is the program itself.
 */
export function principalOf(peer: CallPeer | undefined): string {
  return peer === undefined
    ? ""
    : principalOfNames(peer.identity, peer.address.replace(/:\d+$/, ""));
}

/** The number of the field `node` in a request. */
const NODE = { delta: 1, sotw: 2 } as const;

/**
 * Reads the node of a request, without decoding the rest. Returns `undefined` if there is none.
 * Throws if the node cannot be decoded.
 */
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

/** Returns the claims of a decoded node. */
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
