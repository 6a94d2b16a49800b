import { clone, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema, DiscoveryRequestSchema } from "@xdstp/protos/discovery";

import type { Variant } from "./recording.ts";

/** What a recorded request says of a response, for the server of now. */
export interface LiveAnswer {
  /** Empty: there is nothing to answer. */
  readonly nonce: string;
  /** SotW: of the response that was accepted last. */
  readonly version: string;
}

/** A recorded request with the nonce and version of the server that it goes to. */
export function withAnswer(
  variant: Variant,
  bytes: Uint8Array,
  { nonce, version }: LiveAnswer,
): Uint8Array {
  if (variant === "delta") {
    const request = fromBinary(DeltaDiscoveryRequestSchema, bytes);
    request.responseNonce = nonce;
    return toBinary(DeltaDiscoveryRequestSchema, request);
  }
  const request = fromBinary(DiscoveryRequestSchema, bytes);
  request.responseNonce = nonce;
  request.versionInfo = version;
  return toBinary(DiscoveryRequestSchema, request);
}

/** An ACK that changes no subscription: that of the request before. */
export function ackAfter(variant: Variant, before: Uint8Array, answer: LiveAnswer): Uint8Array {
  if (variant === "delta") {
    const { typeUrl } = fromBinary(DeltaDiscoveryRequestSchema, before);
    return toBinary(
      DeltaDiscoveryRequestSchema,
      create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: answer.nonce }),
    );
  }
  const request = clone(DiscoveryRequestSchema, fromBinary(DiscoveryRequestSchema, before));
  request.errorDetail = undefined;
  request.node = undefined;
  return withAnswer(variant, toBinary(DiscoveryRequestSchema, request), answer);
}
