import { fromBinary } from "@bufbuild/protobuf";
import { concatBytes, walkFields, WireType } from "@xdstp/core/wire";
import { hashBytes } from "@xdstp/protocol/server";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** `DeltaDiscoveryRequest.initial_resource_versions` */
const VERSIONS = 5;
/** Shorter lists are decoded with the rest. */
const WORTH_BYTES = 512;
/** What the lists that are kept take on the wire, together. */
const KEPT_BYTES = 4 << 20;

/** A request in two parts. */
export interface Split {
  /** Without its list of versions. */
  readonly rest: Uint8Array;
  /** The list; the same object for equal bytes. */
  readonly versions: ReadonlyMap<string, string>;
}

/** Lists of held versions, each decoded once: when a server has come back, much of its fleet sends the same one (S-RECON-4). */
export interface VersionLists {
  /** undefined: no list that is worth it; decode the whole. Throws on bytes that are not such a list. */
  split(message: Uint8Array): Split | undefined;
}

interface Known {
  readonly bytes: Uint8Array;
  readonly versions: ReadonlyMap<string, string>;
}

/**
 * No lists yet. Those that were met longest ago go first.
 * @param hashOf - Finds a list; that it is the same, its bytes tell
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

/** Where the list lies, if it lies in one run and is long enough. */
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
  return Buffer.compare(a, b) === 0;
}
