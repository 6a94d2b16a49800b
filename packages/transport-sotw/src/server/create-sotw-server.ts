import {
  createVariantServer,
  type ServerContext,
  type VariantServer,
} from "@xdstp/protocol/server";
import { decodeRequest } from "./decode-request.ts";
import { hashWanted } from "./hash-list.ts";
import { createProfileOf } from "./profile-of.ts";
import { createSotwVariant } from "./sotw-variant.ts";

/** Serves SotW streams from a context that may be shared with the server of delta. */
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
