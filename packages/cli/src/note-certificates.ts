import { X509Certificate } from "node:crypto";
import type { Health } from "@xdstp/server";
import type { FollowProblem } from "./follow-files.ts";
import type { HealthBook } from "./health-book.ts";
import { type TlsContents, TlsFileError, type TlsFiles } from "./tls-files.ts";

/** The server's own certificate, and the authorities of clients: without these no new client is served either. */
export function noteCertificates(book: HealthBook, files: TlsFiles, contents: TlsContents): void {
  book.good("certificate", files.cert, expiryOf(contents.cert, "chain"));
  if (files.clientCa !== undefined && contents.clientCa !== undefined)
    book.good("certificate", files.clientCa, expiryOf(contents.clientCa, "authorities"));
}

/**
 * Notes that new files are not used because one of them is broken; returns the name under which that is shown. A key is shown under the name of its certificate.
 * All files are applied together, so what was not used before still waits for the broken one.
 */
export function noteBrokenCertificate(
  book: HealthBook,
  files: TlsFiles,
  { text, error }: FollowProblem,
): string {
  const { cert, clientCa = cert } = files;
  const broken = error instanceof TlsFileError && error.part === "clientCa" ? clientCa : cert;
  for (const { kind, name, stale } of book.rows())
    if (kind === "certificate" && name !== broken && stale !== undefined)
      book.bad(kind, name, `it is used only together with ${broken}, which is broken`);
  book.bad("certificate", broken, text);
  return broken;
}

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
