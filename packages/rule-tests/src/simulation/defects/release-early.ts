import { CLUSTERS } from "../types.ts";
import { viewRequest, viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward, forwardTo } from "./forward.ts";
import { acknowledge } from "./acknowledge.ts";

/** A server that takes clusters for accepted as soon as it has sent them, so that routes do not wait for them. */
export const releaseEarly: Defect = {
  serve(serve, out, variant) {
    const handler = serve({
      ...forward(out),
      send(message) {
        const { typeUrl, nonce } = viewResponse(message.bytes);
        const more = out.send(message);
        if (typeUrl === CLUSTERS && variant === "delta")
          queueMicrotask(() => {
            handler.onMessage(acknowledge(typeUrl, nonce));
          });
        return more;
      },
    });
    return {
      ...forwardTo(handler),
      onMessage(message) {
        const { typeUrl, nonce, names } = viewRequest(message, variant);
        const isAnswer = typeUrl === CLUSTERS && nonce > 0 && names.length === 0;
        if (variant !== "delta" || !isAnswer) handler.onMessage(message);
      },
    };
  },
};
