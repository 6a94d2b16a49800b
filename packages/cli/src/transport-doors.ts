import type { Clock } from "@xdstp/core";
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

/** Milliseconds that a package has to begin to listen, and to stop. */
const patienceMs = 10_000;

/** The listeners of transports. */
export interface TransportDoors {
  readonly urls: readonly string[];
  /** Stops all of them. Rejects with a CliError for the first one that has not stopped, once the others have. */
  close(): Promise<void>;
}

/** Listens over each transport. Throws a CliError for the first one that cannot; then none listens. */
export async function openTransportDoors(
  transports: readonly LoadedTransport[],
  server: Pick<XdsServer, "accept">,
  clock: Clock,
): Promise<TransportDoors> {
  const open: { readonly listener: TransportListener; readonly transport: LoadedTransport }[] = [];
  const close = async (): Promise<void> => {
    const ends = await Promise.allSettled(
      open.map(async ({ listener, transport }) =>
        callIn(transport, "it has not stopped", clock, async () => listener.close()),
      ),
    );
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  };
  for (const transport of transports) {
    try {
      const listener = await callIn(transport, "it cannot listen", clock, async () =>
        checkedListener(
          await transport.listen(transport.address, (...call) => server.accept(...call)),
        ),
      );
      open.push({ listener, transport });
    } catch (error) {
      // The error that is shown is that of the transport that cannot listen.
      await close().catch(() => undefined);
      throw error;
    }
  }
  return { urls: open.map(({ listener: { url } }) => url), close };
}

/** Calls a package of a third party. Throws a CliError with `failure` if the call fails, or takes longer than 10 s. */
async function callIn<T>(
  { name, address }: LoadedTransport,
  failure: string,
  clock: Clock,
  call: () => Promise<T>,
): Promise<T> {
  const late: PromiseWithResolvers<never> = Promise.withResolvers();
  const timer = clock.after(patienceMs, () => {
    late.reject(new Error(`it has not answered for ${patienceMs / 1_000} s`));
  });
  try {
    return await Promise.race([call(), late.promise]);
  } catch (cause) {
    throw new CliError(
      1,
      `--transport ${name}=${formatEndpoint(address)}: ${failure}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  } finally {
    timer.cancel();
  }
}

/** Returns what `listen` of a package has resolved with. Throws an Error if it is not a listener. */
function checkedListener(listener: Partial<TransportListener> | undefined): TransportListener {
  const { url, close } = listener ?? {};
  if (listener === undefined || typeof url !== "string" || typeof close !== "function")
    throw new Error("its listen has to resolve with { url, close }");
  return listener as TransportListener;
}
