import { fromBinary } from "@bufbuild/protobuf";
import type { Interest } from "@xdstp/core";
import { type DecodedRequest, locatorsOf, nodeInfoOf, withoutUnread } from "@xdstp/protocol/server";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** A `DiscoveryRequest`, as far as a server reads it. */
export interface SotwRequest extends DecodedRequest {
  /** The complete wanted set (S-SUB-1). */
  readonly names: readonly string[];
  /** What of it has dynamic parameters (TP2). */
  readonly located: readonly Interest[];
  /** The version accepted last (S-RECON-7). */
  readonly version: string;
  /** `resource_locators` is used, so wrapped resources are understood (S-WRAP-2). */
  readonly usesLocators: boolean;
}

/** Decodes a request; extensions and metadata of the node are skipped (S-NODE-6). Throws on bytes that are not such a message. */
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
