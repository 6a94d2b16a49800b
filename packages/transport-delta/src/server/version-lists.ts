import { fromBinary } from "@bufbuild/protobuf";
import { concatBytes, equalBytes, walkFields, WireType } from "@xdstp/core/wire";
import { hashBytes } from "@xdstp/protocol/server";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The field number of `DeltaDiscoveryRequest.initial_resource_versions`. */
const VERSIONS = 5;
/** The least size in bytes of a list that is kept; shorter ones are decoded with the rest. */
const WORTH_BYTES = 512;
/** The greatest total size in bytes of the encoded lists that are kept. */
const KEPT_BYTES = 4 << 20;

/** A request, divided into two parts. */
export interface Split {
  /** The message without its list of versions. */
  readonly rest: Uint8Array;
  /** The list; the same object for equal bytes. */
  readonly versions: ReadonlyMap<string, string>;
}

/**
 * Lists of versions, each decoded once: when a server has come back, many of its clients send the
 * same list (S-RECON-4).
 */
export interface VersionLists {
  /**
   * Divides a message. undefined: it has no list that is long enough, so decode the whole. Throws
   * if the bytes are not such a list.
   */
  split(message: Uint8Array): Split | undefined;
}

interface Known {
  readonly bytes: Uint8Array;
  readonly versions: ReadonlyMap<string, string>;
}

/**
 * Creates an empty store. The lists that were used least recently are dropped first.
 * @param hashOf - Returns the hash by which a list is found; its bytes are then compared
 */
export function createVersionLists(hashOf: typeof hashBytes = hashBytes): VersionLists {
  const lists = new Map<number, Known>();
  let kept = 0;
  const forget = (hash: number): void => {
    kept -= lists.get(hash)?.bytes.length ?? 0;
    lists.delete(hash);
  };
  const keep = (hash: number, known: Known): void => {
    forget(hash);
    lists.set(hash, known);
    kept += known.bytes.length;
    for (const oldest of lists.keys()) if (kept > KEPT_BYTES) forget(oldest);
  };
  return {
    split(message) {
      const list = rangeOf(message);
      if (list === undefined) return undefined;
      const bytes = message.subarray(list.start, list.end);
      const hash = hashOf(message, list.start, list.end);
      const known = lists.get(hash);
      const same =
        known !== undefined && areEqual(known.bytes, bytes)
          ? known
          : { bytes: bytes.slice(), versions: decode(bytes) };
      keep(hash, same);
      return {
        rest: concatBytes([message.subarray(0, list.start), message.subarray(list.end)]),
        versions: same.versions,
      };
    },
  };
}

/** Returns the range of the list. undefined: it is not in one run, or too short. */
function rangeOf(
  message: Uint8Array,
): { readonly start: number; readonly end: number } | undefined {
  let [at, start, end, runs] = [0, 0, 0, 0];
  const { outcome } = walkFields(message, (field, _, next, wireType) => {
    if (field === VERSIONS && wireType === WireType.LENGTH_DELIMITED) {
      if (end !== at || runs === 0) [start, runs] = [at, runs + 1];
      end = next;
    }
    at = next;
    return true;
  });
  return outcome === "complete" && runs === 1 && end - start >= WORTH_BYTES
    ? { start, end }
    : undefined;
}

function decode(bytes: Uint8Array): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(fromBinary(DeltaDiscoveryRequestSchema, bytes).initialResourceVersions),
  );
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return equalBytes(a, b);
}
