import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import type { Entry, StoredResource } from "@xdstp/core";

const VERSION = 1;
const NAME = 3;
const RESOURCE_NAME = 8;
/** Field numbers of `ResourceName`. */
const VARIANT = { name: 1, constraints: 2 } as const;

/**
 * Encodes a `Resource` with the name, version and TTL of an entry, and without a body: the client
 * keeps its resource (S-TTL-2).
 */
export function encodeHeartbeat(
  { name }: Pick<Entry, "name">,
  { version, constraints, wire, bare }: StoredResource,
): Uint8Array {
  const named =
    constraints === undefined
      ? lengthDelimited(NAME, name)
      : lengthDelimited(
          RESOURCE_NAME,
          concatBytes([
            lengthDelimited(VARIANT.name, name),
            lengthDelimited(VARIANT.constraints, constraints),
          ]),
        );
  return concatBytes([lengthDelimited(VERSION, version), named, wire.subarray(bare)]);
}
