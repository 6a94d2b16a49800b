import {
  announcesTtl,
  createVariantServer,
  type ServerContext,
  type TypeSetup,
  type VariantServer,
} from "@xdstp/protocol/server";
import { createRequestDecoder } from "./decode-request.ts";
import { createDeltaVariant } from "./delta-variant.ts";
import { createProfileOf, type ClientForm } from "./profile-of.ts";

/** Creates a server of delta streams. The SotW server may share its context. */
export function createDeltaServer(context: ServerContext): VariantServer {
  const profileOf = createProfileOf(context);
  return createVariantServer(context, {
    name: "delta",
    decode: createRequestDecoder(),
    weigh: ({ subscribe, unsubscribe, locate, unlocate }) => ({
      names: subscribe.length + unsubscribe.length + locate.length + unlocate.length,
    }),
    types: createDeltaVariant((setup) => profileOf(setup.typeUrl, formOf(setup))),
  });
}

/**
 * Returns what a client supports: the table of clients takes precedence over what it announces
 * (S-TTL-1).
 */
function formOf({ quirks: { ttl, readsErrors }, host }: TypeSetup): ClientForm {
  return { ttl: ttl.delta ?? announcesTtl(host.node), errors: readsErrors };
}
