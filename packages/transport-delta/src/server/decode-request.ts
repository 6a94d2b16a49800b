import { fromBinary } from "@bufbuild/protobuf";
import type { Interest } from "@xdstp/core";
import { type DecodedRequest, locatorsOf, nodeInfoOf, withoutUnread } from "@xdstp/protocol/server";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";
import { createVersionLists } from "./version-lists.ts";

/** The fields of a `DeltaDiscoveryRequest` that a server reads. */
export interface DeltaRequest extends DecodedRequest {
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /**
   * Interests with dynamic parameters to subscribe (TP2). To unsubscribe from one, its parameters
   * have to be repeated.
   */
  readonly locate: readonly Interest[];
  readonly unlocate: readonly Interest[];
  /** The names and versions that the client has (S-RECON-4). */
  readonly initialVersions: ReadonlyMap<string, string>;
}

/** Creates a decoder of requests. Long lists of versions are decoded once. */
export function createRequestDecoder(): (message: Uint8Array) => DeltaRequest {
  const lists = createVersionLists();
  return (message) => {
    const split = lists.split(message);
    return split === undefined
      ? decodeRequest(message)
      : { ...decodeRequest(split.rest), initialVersions: split.versions };
  };
}

/**
 * Decodes a request; extensions and metadata of the node are skipped (S-NODE-6). Throws if the
 * bytes are not such a message.
 */
export function decodeRequest(message: Uint8Array): DeltaRequest {
  const request = fromBinary(DeltaDiscoveryRequestSchema, withoutUnread(message, "delta"));
  const added = locatorsOf(request.resourceLocatorsSubscribe);
  const dropped = locatorsOf(request.resourceLocatorsUnsubscribe);
  const versions = Object.entries(request.initialResourceVersions);
  return {
    node: request.node === undefined ? undefined : nodeInfoOf(request.node),
    typeUrl: request.typeUrl,
    nonce: request.responseNonce,
    error: request.errorDetail,
    subscribe: joined(request.resourceNamesSubscribe, added.names),
    unsubscribe: joined(request.resourceNamesUnsubscribe, dropped.names),
    locate: added.interests,
    unlocate: dropped.interests,
    initialVersions: versions.length === 0 ? NO_VERSIONS : new Map(versions),
  };
}

const NO_VERSIONS: ReadonlyMap<string, string> = new Map();

/**
 * Joins names and the names of locators. Few clients send locators, and a list may have ten
 * thousand names.
 */
function joined(names: readonly string[], located: readonly string[]): readonly string[] {
  return located.length === 0 ? names : [...names, ...located];
}
