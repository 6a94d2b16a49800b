import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Endpoint, formatEndpoint, parseEndpoint } from "./parse-endpoint.ts";

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
