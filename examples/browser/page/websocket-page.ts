// The same page over a WebSocket. `?server=URL` is the server of the flags.
import { createWebSocketClient } from "@xdstp/web/websocket";

import { flagMessage } from "../flag-message.ts";
import { showFlag } from "./show-flag.ts";

const server = new URLSearchParams(location.search).get("server") ?? `wss://${location.host}`;
showFlag(createWebSocketClient({ url: server }), flagMessage);
