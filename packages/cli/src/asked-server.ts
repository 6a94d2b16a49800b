import type { BootstrapOptions } from "./grpc-bootstrap.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "./endpoint.ts";
import { type CommandCall, type CommandOption, pathFrom } from "./command.ts";

/** The environment variable that names the server where the call does not. */
export const serverVariable = "XDSTP_SERVER";

/** A server, and what says so. */
export interface AskedServer {
  readonly endpoint: Endpoint;
  /** The option or variable that says so: `--server` or `XDSTP_SERVER`. */
  readonly from: string;
}

/**
 * The server of a command: as it was typed, else that of `XDSTP_SERVER`; undefined: neither names one.
 * Throws a CliError that names the option or the variable.
 */
export function askedServer(
  option: string,
  typed: string | undefined,
  { env }: Pick<CliIo, "env">,
): AskedServer | undefined {
  const variable = env[serverVariable] ?? "";
  if (typed !== undefined) return { endpoint: parseEndpoint(option, typed, 1), from: option };
  return variable === ""
    ? undefined
    : { endpoint: parseEndpoint(serverVariable, variable, 1), from: serverVariable };
}

/** Runs a command that asks a server. Where the server was not typed, an error about it says which variable names it. */
export async function namingSource<T>(
  server: AskedServer | undefined,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const isAboutIt =
      server?.from === serverVariable &&
      error instanceof CliError &&
      error.message.includes(formatEndpoint(server.endpoint));
    throw isAboutIt
      ? new CliError(error.exitCode, `${error.message} (${serverVariable} names this server)`, {
          cause: error,
        })
      : error;
  }
}

/** The files of a client's TLS, as they were typed. */
export type ClientTlsFiles = NonNullable<BootstrapOptions["tls"]>;

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

/** The same, with paths that count from `cwd`. */
export function clientTlsPaths(call: CommandCall, cwd: string): ClientTlsFiles | undefined {
  const files = clientTlsFlags(call);
  return (
    files &&
    Object.fromEntries(
      Object.entries(files).map(([part, file]: readonly [string, string]) => [
        part,
        pathFrom(cwd, file),
      ]),
    )
  );
}
