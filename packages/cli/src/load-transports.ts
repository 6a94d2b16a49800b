import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Transport } from "@xdstp/bootstrap";
import type { ByteStream, ByteStreamHandler, PeerIdentity, Status } from "@xdstp/core";
import { CliError } from "./cli-error.ts";
import { pathFrom } from "./command.ts";
import type { Endpoint } from "./endpoint.ts";

/** The exports of a package for the option `--transport`. At least one of them is required. */
export interface TransportPackage {
  /**
   * The client's end, by name: the scheme of the URIs of its servers, or the type of their
   * `channel_creds` in a bootstrap.
   */
  readonly transports?: Readonly<Record<string, Transport>>;
  /**
   * The server's end: listens at an address, and calls `accept` for each stream. `path` is the
   * method of gRPC. Rejects if it cannot listen. The command waits 10 s for it.
   */
  readonly listen?: (
    address: Endpoint,
    accept: (
      path: string,
      peer: string,
      out: ByteStream,
      identity?: PeerIdentity,
    ) => ByteStreamHandler | Status,
  ) => Promise<TransportListener>;
}

/** A listener of a transport. */
export interface TransportListener {
  /** The URL that clients connect to, such as `ws://127.0.0.1:8080`. */
  readonly url: string;
  /** Stops listening, and ends the streams that are left. The command waits 10 s for it. */
  close(): Promise<void>;
}

/** Loads a package of `--transport`: a path, or the name of a package that is installed in the working directory or next to this command. Throws a CliError that names the package. */
export async function loadTransport(name: string, cwd: string): Promise<TransportPackage> {
  const place = placeOf(name, cwd);
  let module: TransportPackage;
  try {
    module = (await import(place)) as TransportPackage;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const names = place.startsWith("file:") ? [fileURLToPath(place), place] : [place];
    const isMissing =
      code === "ERR_MODULE_NOT_FOUND" && names.some((one) => message.includes(`'${one}'`));
    throw new CliError(
      1,
      isMissing
        ? `--transport ${name}: it does not exist; install the package here with npm, or give a path such as ./transport.js`
        : `--transport ${name}: it cannot be loaded: ${message}`,
      { cause },
    );
  }
  checkExports(name, module);
  return module;
}

/** Throws a CliError for exports that are not those of a {@link TransportPackage}. */
function checkExports(
  name: string,
  { transports, listen }: { readonly transports?: unknown; readonly listen?: unknown },
): void {
  const fail = (problem: string): CliError => new CliError(1, `--transport ${name}: ${problem}`);
  if (listen !== undefined && typeof listen !== "function")
    throw fail("its export listen is not a function");
  if (typeof transports !== "object" || transports === null) {
    if (listen !== undefined) return;
    throw fail("it exports neither transports nor listen, so it is not a transport");
  }
  for (const [key, transport] of Object.entries(transports))
    if (typeof transport !== "function")
      throw fail(`its export transports has ${JSON.stringify(key)}, which is not a function`);
}

function placeOf(name: string, cwd: string): string {
  if (/^(?:\.|\/|file:)/.test(name))
    return name.startsWith("file:") ? name : pathToFileURL(pathFrom(cwd, name)).href;
  try {
    return pathToFileURL(createRequire(join(cwd, "package.json")).resolve(name)).href;
  } catch {
    return name;
  }
}

/** Loads packages of `--transport`, and returns the client's ends by name. Throws a CliError for a name that two of them have. */
export async function loadTransports(
  names: readonly string[],
  cwd: string,
): Promise<Readonly<Record<string, Transport>>> {
  const all = new Map<string, Transport>();
  for (const name of names) {
    const { transports = {} } = await loadTransport(name, cwd);
    for (const [key, transport] of Object.entries(transports)) {
      if (all.has(key))
        throw new CliError(
          2,
          `--transport ${name}: another package has the transport ${JSON.stringify(key)} too; leave one out`,
        );
      all.set(key, transport);
    }
  }
  return Object.fromEntries(all);
}
