import type { CliIo } from "./cli-io.ts";
import { hostServer } from "./host-server.ts";
import { loadRegistry } from "./load-registry.ts";
import { relayBootstrap } from "./relay-bootstrap.ts";
import { openRelaySupply, relayOptions } from "./relay-supply.ts";
import type { RelayCall } from "./relay-call.ts";

/** Relays until it is asked to stop; the answer is the exit code. Throws a CliError if it cannot begin: then nothing is left open. */
export async function relay(call: RelayCall, io: CliIo): Promise<number> {
  const { bootstrap, what, certificates } = await relayBootstrap(call.ask, io.env);
  const registry = await loadRegistry([]);
  const options = await relayOptions(call, bootstrap, io);
  return hostServer(
    { ...call, registry },
    (tell) => openRelaySupply(options, what, tell, certificates),
    io,
  );
}
