import type { Http2SecureServer, Http2Server } from "node:http2";
import { XdsError } from "@xdstp/core";
import { demandOf, secureContextOf, type TlsOptions } from "./tls-options.ts";

/** `setTls` of a server that was made with `first`. Node fixes whether it asks for certificates when the server is made. */
export function replaceableTls(
  server: Http2Server | Http2SecureServer,
  first: TlsOptions | undefined,
  now: () => number,
): (tls: TlsOptions) => void {
  return (tls) => {
    if (first === undefined || !("setSecureContext" in server))
      throw new XdsError(
        "FAILED_PRECONDITION",
        "this server has no TLS; create another one with the option tls",
      );
    if (demandOf(first) !== demandOf(tls)) {
      throw new XdsError(
        "FAILED_PRECONDITION",
        "a server cannot begin or cease to ask its clients for certificates; create another one",
      );
    }
    server.setSecureContext(secureContextOf(tls, now()));
  };
}
