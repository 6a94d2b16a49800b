import type { DataSource } from "@xdstp/protos/envoy/core";

import type { TlsCredentials } from "../grpc/bootstrap.ts";
import { wrongAt, type Place } from "../grpc/place.ts";
import { unsupportedAt } from "./inside.ts";

/** A file that a configuration names, and where it does. */
export interface NamedFile {
  readonly data: DataSource | undefined;
  readonly place: Place;
}

const refreshIntervalMs = 600_000;

/** TLS with files; they are followed as those of a gRPC bootstrap are. Throws an XdsError for certificates that are not files, and for one without its key. */
export function tlsOf(
  { ca, cert, key }: Partial<Readonly<Record<"ca" | "cert" | "key", NamedFile>>>,
  place: Place,
): TlsCredentials {
  const [caCertificateFile, certificateFile, privateKeyFile] = [
    fileOf(ca),
    fileOf(cert),
    fileOf(key),
  ];
  if ((certificateFile === undefined) !== (privateKeyFile === undefined))
    throw wrongAt(
      place,
      `has ${certificateFile === undefined ? "a key and no certificate" : "a certificate and no key"}; give both, or neither`,
    );
  return {
    type: "tls",
    refreshIntervalMs,
    ...(caCertificateFile !== undefined && { caCertificateFile }),
    ...(certificateFile !== undefined && { certificateFile }),
    ...(privateKeyFile !== undefined && { privateKeyFile }),
  };
}

function fileOf(file: NamedFile | undefined): string | undefined {
  if (file?.data === undefined) return undefined;
  const { case: kind, value } = file.data.specifier;
  if (kind === "filename" && value !== "") return value;
  throw unsupportedAt(file.place, "is not a file; give filename");
}
