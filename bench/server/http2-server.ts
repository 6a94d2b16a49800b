import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
} from "node:http2";
import { credentials } from "./credentials.ts";

/** A plain server of Node for those who write on it themselves. Clients go without a farewell at the end of a run. */
export function createHttp2Server(tls = false): Http2Server | Http2SecureServer {
  const options = { settings: { maxConcurrentStreams: 5000 } };
  const server = tls
    ? createSecureServer({ ...options, ...credentials(), minVersion: "TLSv1.2" })
    : createServer(options);
  server.on("sessionError", () => {
    /* see above */
  });
  return server;
}
