import { X509Certificate } from "node:crypto";
import { XdsError } from "@xdstp/core";

const block = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Returns the certificates of a PEM. Throws an XdsError, INVALID_ARGUMENT, that names the invalid
 * part of `tls`; Node itself would ignore an unreadable certificate.
 */
export function certificatesIn(
  name: "cert" | "ca" | "clientCa",
  pem: string | Uint8Array,
): readonly X509Certificate[] {
  const blocks = Buffer.from(pem).toString("latin1").match(block) ?? [];
  if (blocks.length === 0)
    throw new XdsError("INVALID_ARGUMENT", `tls.${name} holds no certificate in PEM`);
  try {
    return blocks.map((text) => new X509Certificate(text));
  } catch (cause) {
    throw new XdsError("INVALID_ARGUMENT", `tls.${name} cannot be read (${reasonOf(cause)})`, {
      cause,
    });
  }
}

/** Returns the code of OpenSSL. It never contains a part of the key. */
export function reasonOf(cause: unknown): string {
  return (cause as { readonly code?: string }).code ?? "unknown error";
}
