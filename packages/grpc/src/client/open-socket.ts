import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { ChannelCredentials } from "./channel-tls.ts";
import type { Target } from "./parse-target.ts";

/** Begins a connection to a target, over TLS 1.2 or newer with ALPN `h2` where credentials are given. Whatever goes wrong is an error of the socket. */
export function openSocket(target: Target, credentials: ChannelCredentials | undefined): Socket {
  if (credentials === undefined) return connectTcp({ ...target.address, noDelay: true });
  const { context, servername = isIP(target.host) === 0 ? target.host : undefined } = credentials;
  const socket = connectTls({
    ...target.address,
    secureContext: context,
    ALPNProtocols: ["h2"],
    ...(servername !== undefined && { servername }),
  });
  socket.setNoDelay(true);
  socket.once("secureConnect", () => {
    // Not at once: Node ends the process if a socket is destroyed before its HTTP/2 session has taken it over, in this same event.
    if (socket.alpnProtocol !== "h2")
      setImmediate(() => {
        socket.destroy(new Error("the server does not offer h2 in ALPN"));
      });
  });
  return socket;
}
