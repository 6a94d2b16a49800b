import { createSecureContext, type SecureContext } from "node:tls";
import { XdsError } from "@xdstp/core";
import { certificatesIn, reasonOf } from "../wire/certificates-in.ts";

/** How a channel checks its server, and proves who it is itself. All PEM, as text or bytes. */
export interface ChannelTls {
  /** The authorities that may sign the certificate of the server. Absent: those that Node trusts. */
  readonly ca?: string | Uint8Array;
  /** The certificate of this client, with those between it and its authority behind it; with `key`. Absent: none is shown. */
  readonly cert?: string | Uint8Array;
  /** The private key of `cert`. */
  readonly key?: string | Uint8Array;
  /** The name that the certificate of the server has to be for, also sent as SNI. Default: the host of the target. */
  readonly servername?: string;
}

/** What new connections begin their TLS with. */
export interface ChannelCredentials {
  readonly context: SecureContext;
  readonly servername: string | undefined;
}

/** Throws an XdsError, INVALID_ARGUMENT, that says which part is broken and why. */
export function credentialsOf(tls: ChannelTls): ChannelCredentials {
  const { ca, cert, key, servername } = tls;
  if ((cert === undefined) !== (key === undefined)) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `tls.${cert === undefined ? "key" : "cert"} is alone; give cert and key, or neither`,
    );
  }
  for (const [name, pem] of [
    ["ca", ca],
    ["cert", cert],
  ] as const)
    if (pem !== undefined) certificatesIn(name, pem);
  try {
    const context = createSecureContext({
      minVersion: "TLSv1.2",
      ...(ca !== undefined && { ca: Buffer.from(ca) }),
      ...(cert !== undefined && { cert: Buffer.from(cert) }),
      ...(key !== undefined && { key: Buffer.from(key) }),
    });
    return { context, servername };
  } catch (cause) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `tls.key does not belong to tls.cert, or is not valid PEM (${reasonOf(cause)})`,
      { cause },
    );
  }
}
