import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import type { Entry, StoredResource } from "@xdstp/core";

const VERSION = 1;
const NAME = 3;
const RESOURCE_NAME = 8;
/** Of `ResourceName`. */
const VARIANT = { name: 1, constraints: 2 } as const;

/** A `Resource` with name, version and TTL of an entry, and no body: the client keeps what it has (S-TTL-2). */
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
