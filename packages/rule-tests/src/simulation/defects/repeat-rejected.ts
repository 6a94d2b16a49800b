import type { Message } from "@xdstp/core";

import { viewRequest, viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward, forwardTo } from "./forward.ts";
import { withNonce } from "./with-nonce.ts";

/** So many of them are less than one. */
const SMALL = 2 ** -20;

/** A server that answers a rejection with what was rejected, once. Its nonce is between those of the server, so that this takes no notice of what becomes of it. */
export const repeatRejected: Defect = {
  serve(serve, out, variant) {
    const newest = new Map<string, Message>();
    let last = 0;
    const handler = serve({
      ...forward(out),
      send(message) {
        const { typeUrl, nonce } = viewResponse(message.bytes);
        newest.set(typeUrl, message);
        last = nonce;
        return out.send(message);
      },
    });
    return {
      ...forwardTo(handler),
      onMessage(message) {
        handler.onMessage(message);
        const { typeUrl, nonce, rejects } = viewRequest(message, variant);
        const rejected = newest.get(typeUrl);
        if (rejects && rejected !== undefined && viewResponse(rejected.bytes).nonce === nonce)
          out.send(withNonce(rejected, (last += SMALL)));
      },
    };
  },
};
