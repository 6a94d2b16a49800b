import { X509Certificate } from "node:crypto";
import type { Health } from "@xdstp/server";

/**
 * When the certificates of a PEM stop working, in the form of {@link Health}; nothing where one cannot be read.
 * `chain`: with the first of them to expire. `authorities`: with the last, since while authorities are renewed the old and the new one are both there.
 */
export function expiryOf(
  pem: Buffer,
  kind: "chain" | "authorities",
): Pick<Health, "expiresAt"> | undefined {
  const blocks =
    pem.toString("latin1").match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ??
    [];
  try {
    const times = blocks.map((block) => Date.parse(new X509Certificate(block).validTo));
    if (times.length === 0) return undefined;
    return { expiresAt: kind === "chain" ? Math.min(...times) : Math.max(...times) };
  } catch {
    return undefined;
  }
}
