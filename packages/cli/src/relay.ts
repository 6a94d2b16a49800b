import { XdsError } from "@xdstp/core";
import { createRelay, type Relay, type RelayOptions } from "@xdstp/relay";
import type { AskFlags } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { UpstreamEvent } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import { hostServer, type Supply } from "./host-server.ts";
import { loadRegistry } from "./load-registry.ts";
import { relayBootstrap } from "./relay-bootstrap.ts";
import type { ServerFlags } from "./server-flags.ts";
import { snapshotOptions } from "./snapshot-options.ts";
import type { Tell } from "./stage.ts";

/** What `xdstp relay` was asked to do. */
export interface RelayCall extends ServerFlags {
  /** Whom it asks, and as whom. */
  readonly ask: AskFlags;
  /** What the relay itself is told. */
  readonly relay: Pick<RelayOptions, "follow" | "lingerMs" | "opaqueKey" | "quorum">;
  /** Where what upstream has said is kept. Absent: in memory only. */
  readonly snapshot?: { readonly dir: string; readonly keyFile?: string };
}

/** Relays until it is asked to stop; the answer is the exit code. Throws a CliError if it cannot begin: then nothing is left open. */
export async function relay(call: RelayCall, io: CliIo): Promise<number> {
  const { bootstrap, from, servers } = await relayBootstrap(call.ask, io.env);
  const registry = await loadRegistry([]);
  const snapshot = call.snapshot && await snapshotOptions(call.snapshot);
  return hostServer({ ...call, registry }, (tell) => relaySupply({ ...call.relay, bootstrap, variant: call.ask.variant, clock: io.clock, ...(snapshot && { snapshot }) }, { by: from, upstreams: servers }, tell), io);
}

function relaySupply(options: RelayOptions, what: Supply["what"], tell: Tell): Supply {
  let fail: () => void = () => undefined;
  const failed = new Promise<void>((resolve) => { fail = resolve; });
  const made = begin({ ...options, onEvent(event) {
    if (!isOfCache(event)) tell({ from: "upstream", event });
    else tell({ from: "cache", event });
    if (event.kind === "feed-failed") fail();
  } });
  return { from: "relay", what, cache: heldBy(made), serving: made.serving, upstreams: () => made.status().upstreams, start: async () => failed, close: () => made.close() };
}

/** What is held for all clients, and for each key of its own. */
function heldBy(relay: Relay): Supply["cache"] {
  const { cache } = relay;
  return {
    get ready() { return cache.ready; },
    get revision() { return cache.revision; },
    get resources() { return [cache, ...relay.tenants().map((tenant) => tenant.cache)].reduce((sum, { counters }) => sum + counters.resources, 0); },
  };
}

type AnyEvent = Parameters<NonNullable<RelayOptions["onEvent"]>>[0];
type CacheKind = Exclude<AnyEvent, UpstreamEvent>["kind"];

const cacheKinds: Readonly<Record<CacheKind, true>> = { "ready": true, "aliases-ignored": true, "version-reused": true, "variants-overlap": true, "feed-failed": true };

function isOfCache(event: AnyEvent): event is Exclude<AnyEvent, UpstreamEvent> {
  return event.kind in cacheKinds;
}

function begin(options: RelayOptions): Relay {
  try {
    return createRelay(options);
  } catch (error) {
    throw error instanceof XdsError ? new CliError(1, error.text.replace(/^opaqueKey/, "--opaque-key"), { cause: error }) : error;
  }
}
