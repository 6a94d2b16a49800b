// The module that `xdstp --transport` loads. It exports both ends of the transport.
import { webSocketTransport } from "./websocket-transport.ts";

export { listen } from "./websocket-server.ts";

/** The client's end, by the schemes of URLs. */
export const transports = { ws: webSocketTransport, wss: webSocketTransport };
