import type { ByteStream } from "@xdstp/core";
import {
  announcesTtl,
  createServedType,
  createServerStream,
  type ServerCall,
  type ServerContext,
  type ServerStream,
  type TypeSetup,
  type Variant,
} from "@xdstp/protocol/server";
import { createRequestDecoder, type DeltaRequest } from "./decode-request.ts";
import { createDeltaVariant } from "./delta-variant.ts";
import { createProfileOf, type ClientForm } from "./profile-of.ts";

/** The delta end of a server. */
export interface DeltaServer {
  /**
   * Serves one call, ADS or per type. The source is expected to be ready (S-STREAM-9).
   * @param own - The context of this call, where it has a source of its own: a filter over the source of this end. Default: that of this end
   */
  open(call: ServerCall, out: ByteStream, own?: ServerContext): ServerStream;
}

/** Serves delta streams from a context that may be shared with the SotW end. */
export function createDeltaServer(context: ServerContext): DeltaServer {
  const profileOf = createProfileOf(context);
  const served = createDeltaVariant((setup) => profileOf(setup.typeUrl, formOf(setup)));
  const variant: Variant<DeltaRequest> = {
    name: "delta",
    decode: createRequestDecoder(),
    weigh: ({ subscribe, unsubscribe, locate, unlocate }) => ({
      names: subscribe.length + unsubscribe.length + locate.length + unlocate.length,
    }),
    createType: (origin) => createServedType(served, origin),
  };
  return { open: (call, out, own = context) => createServerStream(own, variant, call, out) };
}

/** What a client understands: what is known of it counts more than what it announces (S-TTL-1). */
function formOf({ quirks: { ttl, readsErrors }, host }: TypeSetup): ClientForm {
  return { ttl: ttl.delta ?? announcesTtl(host.node), errors: readsErrors };
}
