import { readPem } from "./read-pem.ts";

/** The files of a server's TLS, as absolute paths. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates. Absent: clients are not asked for one. */
  readonly clientCa?: string;
}

/** What is in {@link TlsFiles}, PEM. */
export interface TlsContents {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa?: Buffer;
}

/** Reads the files. Throws a CliError that names the one that cannot be read. */
export async function readTlsFiles({ cert, key, clientCa }: TlsFiles): Promise<TlsContents> {
  return {
    cert: await readPem("--tls-cert", cert),
    key: await readPem("--tls-key", key),
    ...(clientCa !== undefined && { clientCa: await readPem("--tls-client-ca", clientCa) }),
  };
}
