import { viewResponse } from "../wire-view.ts";
import type { Defect } from "./defect.ts";
import { forward } from "./forward.ts";
import { withNonce } from "./with-nonce.ts";

/** The number of responses of a stream among which one has the nonce of the response before it. */
const EVERY = 10;

/** A server that gives a nonce again. */
export const repeatNonces: Defect = {
  serve(serve, out) {
    let count = 0;
    let last = 0;
    return serve({
      ...forward(out),
      send(message) {
        const { nonce } = viewResponse(message.bytes);
        const repeats = ++count % EVERY === 0;
        const sent = out.send(repeats ? withNonce(message, last) : message);
        last = nonce;
        return sent;
      },
    });
  },
};
