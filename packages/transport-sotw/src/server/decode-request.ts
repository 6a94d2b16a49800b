import { fromBinary } from "@bufbuild/protobuf";
import type { Interest } from "@xdstp/core";
import { type DecodedRequest, locatorsOf, nodeInfoOf, withoutUnread } from "@xdstp/protocol/server";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The fields of a `DiscoveryRequest` that a server reads. */
export interface SotwRequest extends DecodedRequest {
  /** All subscribed names (S-SUB-1). */
  readonly names: readonly string[];
  /** All subscribed names with dynamic parameters (TP2). */
  readonly located: readonly Interest[];
  /** The version that was last accepted (S-RECON-7). */
  readonly version: string;
  /**
   * True if `resource_locators` is used: the client then understands wrapped resources (S-WRAP-2).
   */
  readonly usesLocators: boolean;
}

/**
 * Decodes a request; extensions and metadata of the node are skipped (S-NODE-6). Throws if the
 * bytes are not such a message.
 */
export function decodeRequest(message: Uint8Array): SotwRequest {
  const request = fromBinary(DiscoveryRequestSchema, withoutUnread(message, "sotw"));
  const locators = locatorsOf(request.resourceLocators);
  return {
    node: request.node === undefined ? undefined : nodeInfoOf(request.node),
    typeUrl: request.typeUrl,
    nonce: request.responseNonce,
    error: request.errorDetail,
    names: [...request.resourceNames, ...locators.names],
    located: locators.interests,
    version: request.versionInfo,
    usesLocators: request.resourceLocators.length > 0,
  };
}
