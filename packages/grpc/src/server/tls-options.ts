import { createSecureContext, type SecureContextOptions } from "node:tls";
import { constants } from "node:crypto";
import { XdsError } from "@xdstp/core";
import { certificatesIn, reasonOf } from "../wire/certificates-in.ts";

/** How a server proves who it is, and what it asks of its clients. All PEM, as text or bytes. */
export interface TlsOptions {
  /** The certificate of the server, with those between it and its authority behind it. */
  readonly cert: string | Uint8Array;
  /** The private key of the certificate. */
  readonly key: string | Uint8Array;
  /** The authorities that may sign certificates of clients. Absent: no certificate is requested, and clients have no identity. */
  readonly clientCa?: string | Uint8Array;
  /**
   * With `clientCa`: whether a client must show a certificate. `required`: who has none that holds is cut before anything is read of it.
   * `optional`: such a client is served, without an identity. Default: `required`.
   */
  readonly clientCertificate?: "required" | "optional";
}

/** Whether clients have to show a certificate. */
export function demandOf(tls: TlsOptions | undefined): "required" | "optional" | "none" {
  return tls?.clientCa === undefined ? "none" : (tls.clientCertificate ?? "required");
}

/** What Node keeps of {@link TlsOptions} and may be replaced while it listens. Throws an XdsError, INVALID_ARGUMENT, that says which part is broken and why. */
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
    // A session that is resumed is not verified again: none is where clients have to prove who they are.
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
