import { X509Certificate } from "node:crypto";
import type { Health } from "@xdstp/server";

/** When the first certificate of a PEM expires; nothing where it cannot be read. */
export function expiryOf(pem: Buffer): Pick<Health, "expiresAt"> {
  try {
    return { expiresAt: Date.parse(new X509Certificate(pem).validTo) };
  } catch {
    return {};
  }
}
