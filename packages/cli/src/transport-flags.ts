import { CliError } from "./cli-error.ts";
import type { CommandCall } from "./command.ts";
import { type Endpoint, parseListen } from "./endpoint.ts";

/** A package of `--transport`, and the address at which it listens. It is plain data, so that it can be sent to another process. */
export interface ServedTransport {
  /** The package as it was given. */
  readonly name: string;
  /** The directory that its path or its `node_modules` is relative to. */
  readonly cwd: string;
  readonly address: Endpoint;
}

/** Reads `--transport` of a command that serves. Throws a CliError for a package without an address, unless `upstream` is true: then it is for servers upstream only. */
export function servedTransports(
  call: CommandCall,
  cwd: string,
  upstream: boolean,
): readonly ServedTransport[] {
  return call.texts("transport").flatMap((text) => {
    const { name, address } = parts(text);
    if (address !== undefined)
      return { name, cwd, address: parseListen(`--transport ${name}`, address) };
    if (upstream) return [];
    throw new CliError(2, `--transport ${text}: give PACKAGE=HOST:PORT, where it listens`);
  });
}

/** Returns the packages of `--transport`, without addresses. */
export function transportPackages(call: CommandCall): readonly string[] {
  return call.texts("transport").map((text) => parts(text).name);
}

/** Returns the names of the transports in packages. Packages are loaded only if there is one. Throws a CliError that names a package that cannot be used. */
export async function transportNames(
  packages: readonly string[],
  cwd: string,
): Promise<readonly string[]> {
  if (packages.length === 0) return [];
  const { loadTransports } = await import("./load-transports.ts");
  return Object.keys(await loadTransports(packages, cwd));
}

function parts(text: string): { readonly name: string; readonly address?: string } {
  const at = text.lastIndexOf("=");
  return at < 0 ? { name: text } : { name: text.slice(0, at), address: text.slice(at + 1) };
}
