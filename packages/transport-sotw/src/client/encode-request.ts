import { create, toBinary } from "@bufbuild/protobuf";
import { StatusCode, type Interest } from "@xdstp/core";
import { requestNames } from "@xdstp/protocol/client";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** What a request says. */
export interface RequestParts {
  readonly typeUrl: string;
  /** Of the response that was accepted last. */
  readonly version: string;
  /** Of the last response of the type on the stream. */
  readonly nonce: string;
  /** All subscriptions. */
  readonly names: readonly Interest[];
  /** Why the last response is rejected. Absent: it is not. */
  readonly error: string | undefined;
}

/** Encodes a `DiscoveryRequest` without its node. What has parameters is a locator (C-DYN-1). */
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
