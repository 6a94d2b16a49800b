import type { Transport } from "@xdstp/bootstrap";

import { streamOver } from "./websocket-stream.ts";

/** Connects a client by WebSockets, one for each call: for the option `transports` of `createChannels`. */
export const webSocketTransport: Transport = ({ uri }) => ({
  open: ({ path }, handler) =>
    streamOver(new WebSocket(`${uri.replace(/\/$/, "")}${path}`), handler),
  close: () => undefined,
});
