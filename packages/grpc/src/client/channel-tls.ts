import { createSecureContext, type SecureContext } from "node:tls";
import { XdsError } from "@xdstp/core";
import { certificatesIn, reasonOf } from "../wire/certificates-in.ts";

/**
 * TLS of a channel: how it verifies its server and authenticates itself. All values are PEM, as text or bytes.
 */
export interface ChannelTls {
  /**
   * The authorities that may sign the certificate of the server. Absent: the authorities that Node
   * trusts.
   */
  readonly ca?: string | Uint8Array;
  /**
   * The certificate of this client, followed by the intermediate certificates; requires `key`.
   * Absent: the client presents none.
   */
  readonly cert?: string | Uint8Array;
  /** The private key of `cert`. */
  readonly key?: string | Uint8Array;
  /**
   * The name that the certificate of the server has to match, also sent as SNI. Default: the host
   * of the target.
   */
  readonly servername?: string;
}

/** The TLS parameters of new connections. */
export interface ChannelCredentials {
  /** The certificates and authorities. */
  readonly context: SecureContext;
  /** The name that the certificate of the server has to have. undefined: the host of the target. */
  readonly servername: string | undefined;
}

/**
 * Returns the parameters. Throws an XdsError, INVALID_ARGUMENT, that names the invalid part and the
 * reason.
 */
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
