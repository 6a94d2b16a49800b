import { viewRequest, viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward, forwardTo } from "./forward.ts";

/** A delta server that ignores a request whose nonce is not the newest, or that has none while an answer is owed, with all that it asks for. In SotW the names come again with the next answer. */
export const loseNamesBehindStaleNonces: Defect = {
  serve(serve, out, variant) {
    const newest = new Map<string, number>();
    const owed = new Set<string>();
    const handler = serve({
      ...forward(out),
      send(message) {
        const { typeUrl, nonce } = viewResponse(message.bytes);
        newest.set(typeUrl, nonce);
        owed.add(typeUrl);
        return out.send(message);
      },
    });
    const isLost = (message: Uint8Array): boolean => {
      const { typeUrl, nonce, names } = viewRequest(message, variant);
      const isNewest = nonce === newest.get(typeUrl);
      if (isNewest) owed.delete(typeUrl);
      return variant === "delta" && names.length > 0 && owed.has(typeUrl) && !isNewest;
    };
    return {
      ...forwardTo(handler),
      onMessage: (message) => {
        if (!isLost(message)) handler.onMessage(message);
      },
    };
  },
};
