import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";

/** The name under which clients can check a server that listens on this host: the host itself if the certificate is for it, else the first name in the certificate that is not a wildcard. */
export function serverName(certificate: string | Buffer, host: string): string {
  const parsed = new X509Certificate(certificate);
  if ((isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host)) !== undefined) return host;
  const names = [...(parsed.subjectAltName ?? "").matchAll(/DNS:([\w.-]+)/g)].map(
    ([, name = ""]) => name,
  );
  return names[0] ?? host;
}
