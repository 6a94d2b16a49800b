import type { ByteStream } from "@xdstp/core";
import {
  createServedType,
  createServerStream,
  type ServerCall,
  type ServerContext,
  type ServerStream,
  type Variant,
} from "@xdstp/protocol/server";
import { decodeRequest, type SotwRequest } from "./decode-request.ts";
import { hashWanted } from "./hash-list.ts";
import { createProfileOf } from "./profile-of.ts";
import { createSotwVariant } from "./sotw-variant.ts";

/** The SotW end of a server. */
export interface SotwServer {
  /**
   * Serves one call, ADS or per type. The source is expected to be ready (S-STREAM-9).
   * @param own - The context of this call, where it has a source of its own: a filter over the source of this end. Default: that of this end
   */
  open(call: ServerCall, out: ByteStream, own?: ServerContext): ServerStream;
}

/** Serves SotW streams from a context that may be shared with the delta end. */
export function createSotwServer(context: ServerContext): SotwServer {
  const served = createSotwVariant(createProfileOf(context));
  const variant: Variant<SotwRequest> = {
    name: "sotw",
    decode: decodeRequest,
    weigh: (request) => ({
      names: request.names.length + request.located.length,
      list: hashWanted(request),
    }),
    createType: (origin) => createServedType(served, origin),
  };
  return { open: (call, out, own = context) => createServerStream(own, variant, call, out) };
}
