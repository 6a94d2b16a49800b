import type { Channels } from "@xdstp/bootstrap";

import { streamOver } from "./websocket-stream.ts";

/** Connects a client by WebSockets, one for each call: the option `channels` of `createClient`. */
export function createWebSocketChannels(): Channels {
  return {
    acquire: ({ uri }) => ({
      open: ({ path }, handler) => streamOver(new WebSocket(`${uri}${path}`), handler),
      release: () => undefined,
    }),
  };
}
