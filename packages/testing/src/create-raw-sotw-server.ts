import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  DiscoveryRequestSchema,
  DiscoveryResponseSchema,
  type DiscoveryRequest,
} from "@xdstp/protos/discovery";

import { createRawServer, type RawServer } from "./create-raw-server.ts";

/** A SotW response as a plain object: what is left out is not sent. */
export type SotwResponseInit = Omit<MessageInitShape<typeof DiscoveryResponseSchema>, "$typeName">;

/** Sends and reads single messages of the SotW variant. */
export type RawSotwServer = RawServer<DiscoveryRequest, SotwResponseInit>;

/** A server of the SotW variant for scripts that say each step. */
export function createRawSotwServer(): RawSotwServer {
  return createRawServer({
    decode: (bytes) => fromBinary(DiscoveryRequestSchema, bytes),
    encode: (response: SotwResponseInit) =>
      toBinary(DiscoveryResponseSchema, create(DiscoveryResponseSchema, response)),
  });
}
