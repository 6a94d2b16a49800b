import { create, toBinary } from "@bufbuild/protobuf";
import { StatusCode, type Interest } from "@xdstp/core";
import { requestNames } from "@xdstp/protocol/client";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The content of a request. */
export interface RequestParts {
  readonly typeUrl: string;
  /** The version of the response that was last accepted. */
  readonly version: string;
  /** The nonce of the last response of the type on the stream. */
  readonly nonce: string;
  /** All subscriptions. */
  readonly names: readonly Interest[];
  /** Why the last response is rejected. undefined: it is accepted. */
  readonly error: string | undefined;
}

/**
 * Encodes a `DiscoveryRequest` without its node. An interest with parameters becomes a locator
 * (C-DYN-1).
 */
export function encodeRequest({ typeUrl, version, nonce, names, error }: RequestParts): Uint8Array {
  const requested = requestNames(names);
  return toBinary(
    DiscoveryRequestSchema,
    create(DiscoveryRequestSchema, {
      typeUrl,
      versionInfo: version,
      responseNonce: nonce,
      resourceNames: requested.names,
      resourceLocators: requested.locators,
      ...(error === undefined
        ? {}
        : { errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: error } }), // C-ACK-14
    }),
  );
}
