import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryRequestSchema } from "@xdstp/protos/discovery";

/** The ACK of a delta response. */
export function acknowledge(typeUrl: string, nonce: number): Uint8Array {
  return toBinary(
    DeltaDiscoveryRequestSchema,
    create(DeltaDiscoveryRequestSchema, { typeUrl, responseNonce: String(nonce) }),
  );
}
