import {
  createVariantServer,
  type ServerContext,
  type VariantServer,
} from "@xdstp/protocol/server";
import { decodeRequest } from "./decode-request.ts";
import { hashWanted } from "./hash-list.ts";
import { createProfileOf } from "./profile-of.ts";
import { createSotwVariant } from "./sotw-variant.ts";

/** Creates a server of SotW streams. The delta server may share its context. */
export function createSotwServer(context: ServerContext): VariantServer {
  return createVariantServer(context, {
    name: "sotw",
    decode: decodeRequest,
    weigh: (request) => ({
      names: request.names.length + request.located.length,
      list: hashWanted(request),
    }),
    types: createSotwVariant(createProfileOf(context)),
  });
}
