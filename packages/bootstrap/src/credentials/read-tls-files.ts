import { readFileSync } from "node:fs";
import { XdsError } from "@xdstp/core";
import type { ChannelTls } from "@xdstp/grpc/client";
import type { TlsCredentials } from "../grpc/bootstrap.ts";

/** The certificates that credentials name, for a channel. Throws an XdsError, NOT_FOUND, that names the file that cannot be read. */
export function readTlsFiles({
  caCertificateFile,
  certificateFile,
  privateKeyFile,
  servername,
}: TlsCredentials): ChannelTls {
  return {
    ...(caCertificateFile !== undefined && { ca: pem("ca_certificate_file", caCertificateFile) }),
    ...(certificateFile !== undefined && { cert: pem("certificate_file", certificateFile) }),
    ...(privateKeyFile !== undefined && { key: pem("private_key_file", privateKeyFile) }),
    ...(servername !== undefined && { servername }),
  };
}

/** The files that credentials name. */
export function tlsFilesOf({
  caCertificateFile,
  certificateFile,
  privateKeyFile,
}: TlsCredentials): readonly string[] {
  return [caCertificateFile, certificateFile, privateKeyFile].filter((file) => file !== undefined);
}

function pem(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new XdsError(
      "NOT_FOUND",
      `${option} ${file}: ${code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`}; give a PEM file`,
      { cause },
    );
  }
}
