import { create, toBinary } from "@bufbuild/protobuf";
import { type Interest, StatusCode } from "@xdstp/core";
import { type RequestChanges, requestNames } from "@xdstp/protocol/client";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The content of a request. */
export interface RequestParts {
  readonly typeUrl: string;
  readonly subscribe: readonly Interest[];
  readonly unsubscribe: readonly Interest[];
  /** Cached names and versions; in the first request of a type only (C-RECON-3). */
  readonly versions: ReadonlyMap<string, string>;
  /**
   * The answer to a response. undefined: the request answers nothing, so it has no nonce
   * (C-NONCE-10).
   */
  readonly answer: RequestChanges["answer"];
}

/**
 * Encodes a `DeltaDiscoveryRequest` without its node. An interest with parameters becomes a locator
 * (C-DYN-1).
 */
export function encodeRequest({
  typeUrl,
  subscribe,
  unsubscribe,
  versions,
  answer,
}: RequestParts): Uint8Array {
  const [added, dropped] = [requestNames(subscribe), requestNames(unsubscribe)];
  return toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, {
      typeUrl,
      resourceNamesSubscribe: added.names,
      resourceNamesUnsubscribe: dropped.names,
      resourceLocatorsSubscribe: added.locators,
      resourceLocatorsUnsubscribe: dropped.locators,
      initialResourceVersions: Object.fromEntries(versions),
      ...(answer === undefined ? {} : { responseNonce: answer.nonce }),
      ...(answer?.error === undefined
        ? {}
        : { errorDetail: { code: StatusCode.INVALID_ARGUMENT, message: answer.error } }), // C-ACK-14
    }),
  );
}
