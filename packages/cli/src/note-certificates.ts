import type { FollowProblem } from "./follow-files.ts";
import { expiryOf } from "./expiry-of.ts";
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
