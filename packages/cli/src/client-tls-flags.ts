import { CliError } from "./cli-error.ts";
import type { CommandCall, CommandOption } from "./command.ts";

/** The files of a client's TLS, as they were typed. */
export interface ClientTlsFiles {
  /** Authorities that the server's certificate is checked with. Absent: those of the machine. */
  readonly ca?: string;
  /** The certificate to show; only together with `key`. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
}

/** The options of a command that concerns a client of a server with TLS. */
export const clientTlsOptions: Readonly<Record<string, CommandOption>> = {
  tls: {
    help: "with TLS; the certificate of the server is checked with the authorities of this machine",
  },
  "tls-ca": { value: "FILE", help: "with TLS; the authorities to check it with, PEM" },
  "tls-cert": { value: "FILE", help: "the certificate to show to the server, PEM" },
  "tls-key": { value: "FILE", help: "its private key, PEM" },
};

/** What these options say; undefined: no TLS. Throws a CliError for a certificate without its key. */
export function clientTlsFlags(call: CommandCall): ClientTlsFiles | undefined {
  const [ca, cert, key] = ["tls-ca", "tls-cert", "tls-key"].map((name) => call.text(name));
  if ((cert === undefined) !== (key === undefined))
    throw new CliError(2, "a certificate needs both --tls-cert and --tls-key");
  if (ca === undefined && cert === undefined && !call.flag("tls")) return undefined;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
