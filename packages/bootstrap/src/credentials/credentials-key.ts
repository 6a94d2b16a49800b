import type { BootstrapCredentials } from "../grpc/bootstrap.ts";

/** Equal for equal credentials, however they are written. */
export function credentialsKey(credentials: BootstrapCredentials): string {
  if (credentials.type === "insecure") return credentials.type;
  const {
    type,
    caCertificateFile,
    certificateFile,
    privateKeyFile,
    servername,
    refreshIntervalMs,
  } = credentials;
  return JSON.stringify([
    type,
    caCertificateFile,
    certificateFile,
    privateKeyFile,
    servername,
    refreshIntervalMs,
  ]);
}
