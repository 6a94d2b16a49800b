import { createSecureContext, type SecureContextOptions } from "node:tls";
import { constants } from "node:crypto";
import { XdsError } from "@xdstp/core";
import { certificatesIn, reasonOf } from "../wire/certificates-in.ts";

/**
 * The certificate of a server, and how it verifies clients. All values are PEM, as text or bytes.
 */
export interface TlsOptions {
  /** The certificate of the server, followed by the intermediate certificates. */
  readonly cert: string | Uint8Array;
  /** The private key of the certificate. */
  readonly key: string | Uint8Array;
  /** The authorities that may sign certificates of clients. Absent: no certificate is requested, and clients have no identity. */
  readonly clientCa?: string | Uint8Array;
  /**
   * The demand for a certificate of the client, if `clientCa` is given. `required`: a client
   * without a valid one is cut before anything is read. `optional`: it is served without an
   * identity. Default: `required`.
   */
  readonly clientCertificate?: "required" | "optional";
}

/** Returns whether clients have to present a certificate. */
export function demandOf(tls: TlsOptions | undefined): "required" | "optional" | "none" {
  return tls?.clientCa === undefined ? "none" : (tls.clientCertificate ?? "required");
}

/**
 * Returns the part of {@link TlsOptions} that can be replaced while Node listens. Throws an
 * XdsError, INVALID_ARGUMENT, that names the invalid part and the reason.
 */
export function secureContextOf(tls: TlsOptions, now: number): SecureContextOptions {
  const { cert, key, clientCa } = tls;
  const [own] = certificatesIn("cert", cert);
  if (own !== undefined && own.validToDate.getTime() < now)
    throw broken("cert", `ended at ${own.validToDate.toISOString()}`);
  if (clientCa !== undefined) certificatesIn("clientCa", clientCa);
  const options: SecureContextOptions = {
    cert: Buffer.from(cert),
    key: Buffer.from(key),
    minVersion: "TLSv1.2",
    // A resumed session is not verified again. So there are no resumed sessions if clients have to
    // authenticate.
    ...(clientCa === undefined
      ? {}
      : { ca: Buffer.from(clientCa), secureOptions: constants.SSL_OP_NO_TICKET }),
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw broken(
      "key",
      `does not belong to tls.cert, or is not valid PEM (${reasonOf(cause)})`,
      cause,
    );
  }
  return options;
}

function broken(name: "cert" | "key", problem: string, cause?: unknown): XdsError {
  return new XdsError(
    "INVALID_ARGUMENT",
    `tls.${name} ${problem}`,
    cause === undefined ? {} : { cause },
  );
}
