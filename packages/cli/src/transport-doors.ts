import type { XdsServer } from "@xdstp/server";
import { CliError } from "./cli-error.ts";
import { formatEndpoint } from "./endpoint.ts";
import { loadTransport, type TransportListener, type TransportPackage } from "./load-transports.ts";
import type { ServedTransport } from "./transport-flags.ts";

/** A loaded package that can listen. */
export interface LoadedTransport extends ServedTransport {
  readonly listen: NonNullable<TransportPackage["listen"]>;
}

/** Loads the packages. Throws a CliError for one that cannot listen. */
export async function loadServedTransports(
  transports: readonly ServedTransport[] = [],
): Promise<readonly LoadedTransport[]> {
  return Promise.all(
    transports.map(async (transport) => {
      const { listen } = await loadTransport(transport.name, transport.cwd);
      if (typeof listen === "function") return { ...transport, listen };
      throw new CliError(
        1,
        `--transport ${transport.name}: it does not export listen, so it is only for clients; leave =${formatEndpoint(transport.address)} out`,
      );
    }),
  );
}

/** Listens over each transport. Throws a CliError for the first one that cannot; then none listens. */
export async function openTransportDoors(
  transports: readonly LoadedTransport[],
  server: Pick<XdsServer, "accept">,
): Promise<{ readonly urls: readonly string[]; close(): Promise<void> }> {
  const open: TransportListener[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(open.map((listener) => listener.close()));
  };
  for (const { name, address, listen } of transports) {
    try {
      open.push(await listen(address, (...call) => server.accept(...call)));
    } catch (cause) {
      await close();
      throw new CliError(
        1,
        `--transport ${name}=${formatEndpoint(address)}: it cannot listen: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  }
  return { urls: open.map(({ url }) => url), close };
}
