import type { Message } from "@xdstp/core";

import { ROUTES } from "../types.ts";
import { viewRequest, viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward, forwardTo } from "./forward.ts";
import { withNonce } from "./with-nonce.ts";

/** This is less than one after several of them. */
const SMALL = 2 ** -20;

/** A server that sends rejected routes again unchanged, and once more when the client rejects them again, though nothing that they name was accepted in between. */
export const retryTwice: Defect = {
  serve(serve, out, variant) {
    let newest: Message | undefined;
    let rejected: number | undefined;
    let last = 0;
    const handler = serve({
      ...forward(out),
      send(message) {
        const { typeUrl, nonce } = viewResponse(message.bytes);
        if (typeUrl === ROUTES) newest = message;
        last = nonce;
        return out.send(message);
      },
    });
    return {
      ...forwardTo(handler),
      onMessage(message) {
        handler.onMessage(message);
        const { typeUrl, nonce, rejects } = viewRequest(message, variant);
        if (typeUrl !== ROUTES || !rejects || newest === undefined) return;
        const { hash, nonce: sent } = viewResponse(newest.bytes);
        if (sent !== nonce) return;
        if (hash === rejected) out.send(withNonce(newest, (last += SMALL)));
        rejected = hash;
      },
    };
  },
};
