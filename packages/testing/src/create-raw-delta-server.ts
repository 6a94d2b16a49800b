import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  DeltaDiscoveryRequestSchema,
  DeltaDiscoveryResponseSchema,
  type DeltaDiscoveryRequest,
} from "@xdstp/protos/discovery";

import { createRawServer, type RawServer } from "./create-raw-server.ts";

/** A delta response as a plain object: what is left out is not sent. */
export type DeltaResponseInit = Omit<
  MessageInitShape<typeof DeltaDiscoveryResponseSchema>,
  "$typeName"
>;

/** Sends and reads single messages of the delta variant. */
export type RawDeltaServer = RawServer<DeltaDiscoveryRequest, DeltaResponseInit>;

/** A server of the delta variant for scripts that say each step. */
export function createRawDeltaServer(): RawDeltaServer {
  return createRawServer({
    decode: (bytes) => fromBinary(DeltaDiscoveryRequestSchema, bytes),
    encode: (response: DeltaResponseInit) =>
      toBinary(DeltaDiscoveryResponseSchema, create(DeltaDiscoveryResponseSchema, response)),
  });
}
