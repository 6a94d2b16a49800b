import type { ServerConfig } from "@xdstp/bootstrap";
import { XdsError } from "@xdstp/core";
import { createHttpFeed } from "@xdstp/transport-http/client";

import type { OpenServer } from "./federation-source.ts";
import type { ServerOptions } from "./open-server.ts";
import { shownUri } from "./shown-uri.ts";

/**
 * Returns true if the URI of a server is an URL of HTTP, and its credentials do not choose another
 * transport: its names are requested by GET, not on a stream.
 */
export function isHttpServer({
  uri,
  credentials,
}: Pick<ServerConfig, "uri"> & Partial<Pick<ServerConfig, "credentials">>): boolean {
  return credentials?.type !== "transport" && /^https?:\/\//i.test(uri);
}

/**
 * Checks the configuration of a server over native HTTP. Throws an XdsError, INVALID_ARGUMENT, for
 * a URI that is more than an origin, and for credentials that its requests would not use.
 */
export function checkHttpServer({ uri, credentials }: ServerConfig): void {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url !== undefined && url.username + url.password !== "")
    throw invalid(
      shownUri(uri),
      "has a user name or password, which requests would not use; leave it out",
    );
  if (url?.origin !== uri.toLowerCase().replace(/\/$/, ""))
    throw invalid(uri, "is not an origin; give https://HOST or https://HOST:PORT");
  if (credentials.type !== "tls") return;
  if (url.protocol === "http:")
    throw invalid(uri, "has TLS credentials, which http: would not use; give https:");
  const { caCertificateFile, certificateFile, servername } = credentials;
  if (caCertificateFile !== undefined || certificateFile !== undefined || servername !== undefined)
    throw invalid(
      uri,
      "has certificates or a server name, which requests over HTTP do not use; leave them out, and name authorities of your own in NODE_EXTRA_CA_CERTS",
    );
}

/**
 * Opens a server over native HTTP (B-HTTP-1): its origin replaces the authority of each name. It
 * has no connection to release, and no status of a stream (B-HTTP-12).
 */
export function openHttpServer(
  { uri, metadata }: ServerConfig,
  { clock, random }: ServerOptions,
): OpenServer {
  const feed = createHttpFeed({
    origin: () => uri.toLowerCase(),
    ...(metadata !== undefined && { headers: metadata }),
    ...(clock !== undefined && { clock }),
    ...(random !== undefined && { random }),
  });
  return {
    feed: {
      run: (sink, signal) => feed.run(sink, signal),
      want: (...change) => {
        feed.want(...change);
      },
      get responded() {
        return feed.responded;
      },
    },
    close: () => undefined,
  };
}

function invalid(uri: string, reason: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", `the server ${JSON.stringify(uri)} ${reason}`, {
    rule: "B-HTTP-1",
  });
}
