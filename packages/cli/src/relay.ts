import type { RelayOptions } from "@xdstp/relay";
import type { AskFlags } from "./ask-flags.ts";
import type { CliIo } from "./cli-io.ts";
import { hostServer } from "./host-server.ts";
import { loadRegistry } from "./load-registry.ts";
import { relayBootstrap } from "./relay-bootstrap.ts";
import { openRelaySupply, relayOptions } from "./relay-supply.ts";
import type { ServerFlags } from "./server-flags.ts";

/** What `xdstp relay` was asked to do. It is plain data. */
export interface RelayCall extends ServerFlags {
  /** Whom it asks, and as whom. */
  readonly ask: AskFlags;
  /** Options of the relay itself. */
  readonly relay: Pick<RelayOptions, "follow" | "lingerMs" | "opaqueKey" | "quorum">;
  /** Where what upstream has said is kept. Absent: in memory only. */
  readonly snapshot?: { readonly dir: string; readonly keyFile?: string };
}

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
