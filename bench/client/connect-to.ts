import { connect, type ClientHttp2Session } from "node:http2";

/** As Envoy and gRPC have it, more or less: large enough for a first answer. */
const usualWindow = 1024 * 1024;

/** A connection to a server of the bench; with TLS its certificate is not looked at, as it is not the client that is measured. */
export function connectTo(
  port: number,
  tls = false,
  streamWindow: number = usualWindow,
): ClientHttp2Session {
  const options = { settings: { initialWindowSize: streamWindow } };
  return tls
    ? connect(`https://127.0.0.1:${port}`, { ...options, rejectUnauthorized: false })
    : connect(`http://127.0.0.1:${port}`, options);
}
