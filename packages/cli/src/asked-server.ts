import type { BootstrapOptions } from "./grpc-bootstrap.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "./endpoint.ts";
import { type CommandCall, type CommandOption, pathFrom } from "./command.ts";

/** The environment variable with the server that is used without `--server`. */
export const serverVariable = "XDSTP_SERVER";

/** A server, and the option or variable that gave it. */
export interface AskedServer {
  /** `HOST:PORT`, or a URL. */
  readonly uri: string;
  /** `--server` or `XDSTP_SERVER`. */
  readonly from: string;
}

/** A server of gRPC. */
export interface AskedEndpoint extends AskedServer {
  readonly endpoint: Endpoint;
}

/**
 * Returns the server of a command: the one given with the option, else that of `XDSTP_SERVER`. Returns `undefined` if neither is set. It is `HOST:PORT`, the origin of a server over native HTTP, a socket (`unix:///PATH`), or a URL of a transport.
 * Throws a CliError that names the option or the variable.
 * @param transports - The names of other transports
 */
export function askedServer(
  option: string,
  typed: string | undefined,
  { env }: Pick<CliIo, "env">,
  transports: readonly string[] = [],
): AskedServer | undefined {
  const given = givenServer(option, typed, env);
  if (given === undefined) return undefined;
  const scheme = schemeOf(given.text);
  if (scheme === undefined)
    return {
      uri: formatEndpoint(parseEndpoint(given.from, given.text, 1)),
      from: given.from,
    };
  if (["http", "https", "unix", ...transports].includes(scheme))
    return { uri: given.text, from: given.from };
  throw new CliError(
    2,
    `${shown(given)}: the scheme ${scheme} is not known; give HOST:PORT, an origin such as https://HOST, or --transport with the package that knows it`,
  );
}

/** Returns the server of a command that needs gRPC, as {@link askedServer} does. */
export function askedEndpoint(
  option: string,
  typed: string | undefined,
  { env }: Pick<CliIo, "env">,
): AskedEndpoint | undefined {
  const given = givenServer(option, typed, env);
  if (given === undefined) return undefined;
  if (schemeOf(given.text) !== undefined)
    throw new CliError(
      2,
      `${shown(given)} is a URL, and this command needs a server of gRPC; give HOST:PORT`,
    );
  const endpoint = parseEndpoint(given.from, given.text, 1);
  return { uri: formatEndpoint(endpoint), endpoint, from: given.from };
}

interface GivenServer {
  readonly text: string;
  readonly from: string;
}

/** Returns a server for an error, without its password. */
function shown({ text, from }: GivenServer): string {
  return `${from} ${JSON.stringify(text.replace(/\/\/[^/?#]*@/, "//***@"))}`;
}

function givenServer(
  option: string,
  typed: string | undefined,
  env: CliIo["env"],
): GivenServer | undefined {
  const variable = env[serverVariable] ?? "";
  if (typed !== undefined) return { text: typed, from: option };
  return variable === "" ? undefined : { text: variable, from: serverVariable };
}

function schemeOf(text: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
}

/** Runs a command that connects to a server. If the server comes from `XDSTP_SERVER`, an error that contains its address also names the variable. */
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
      error.message.includes(server.uri);
    throw isAboutIt
      ? new CliError(error.exitCode, `${error.message} (${serverVariable} names this server)`, {
          cause: error,
        })
      : error;
  }
}

/** The certificate files of a client, as they were typed. */
export type ClientTlsFiles = NonNullable<BootstrapOptions["tls"]>;

/** The TLS options of a command that connects to a server, or that prints a bootstrap for such a client. */
export const clientTlsOptions: Readonly<Record<string, CommandOption>> = {
  tls: {
    help: "with TLS; the certificate of the server is checked with the authorities of this machine",
  },
  "tls-ca": { value: "FILE", help: "with TLS; the authorities to check it with, PEM" },
  "tls-cert": { value: "FILE", help: "the certificate to show to the server, PEM" },
  "tls-key": { value: "FILE", help: "its private key, PEM" },
};

/** Reads {@link clientTlsOptions}. Returns `undefined` without TLS. Throws a CliError for a certificate without its key. */
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

/** Reads {@link clientTlsOptions}, with paths relative to `cwd`. */
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
