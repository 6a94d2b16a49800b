import { setTimeout as delay } from "node:timers/promises";
import { readFile } from "node:fs/promises";
import { systemClock, XdsError } from "@xdstp/core";
import {
  createRelay,
  type Relay,
  type RelayOptions,
  SnapshotInUse,
  type SnapshotOptions,
  type UpstreamStatus,
} from "@xdstp/relay";
import type { Health, ResourceOrigin } from "@xdstp/server";
import { authorityOf } from "@xdstp/uri";
import type { CliIo } from "./cli-io.ts";
import { hostServer, type Supply } from "./host-server.ts";
import { loadRegistry } from "./load-registry.ts";
import { type RelayBootstrap, relayBootstrap, type RelayCall } from "./relay-call.ts";
import { CliError } from "./cli-error.ts";
import type { UpstreamEvent } from "./cli-event.ts";
import { relayVersions } from "./served-versions.ts";
import type { Held, Tell } from "./reporter.ts";
import { followUpstreamCertificates } from "./health-book.ts";

/** Relays until a signal stops it, and returns the exit code. Throws a CliError if it cannot start; nothing stays open then. */
export async function relay(call: RelayCall, io: CliIo): Promise<number> {
  const upstream = await relayBootstrap(call.ask, io);
  const { what, certificates } = upstream;
  const registry = await loadRegistry([]);
  return hostServer(
    { ...call, registry },
    async (tell) =>
      openRelaySupply(await relayOptions(call, upstream, io, tell), what, tell, certificates),
    io,
  );
}

/** Returns the options of `createRelay`. Throws a CliError for an invalid snapshot key. */
export async function relayOptions(
  { relay, snapshot, ask }: RelayCall,
  { bootstrap, openChannels }: Pick<RelayBootstrap, "bootstrap" | "openChannels">,
  { clock }: Pick<CliIo, "clock">,
  tell: Tell,
): Promise<RelayOptions> {
  return {
    ...relay,
    bootstrap,
    variant: ask.variant,
    clock,
    channels: await openChannels(clock, (event) => {
      if (event.kind === "missing")
        tell({ from: "relay", event: { kind: "warning", message: event.message } });
    }),
    ...(snapshot && { snapshot: await snapshotOptions(snapshot) }),
  };
}

const retryMs = 50;
const patienceMs = 3_000;

/**
 * Opens a {@link relaySupply}. It waits up to 3 s for a snapshot that is in use: if the processes of a relay are killed and another relay starts immediately, one of them may still be ending.
 * The wait is in real time and does not use {@link CliIo.clock}. Timers of that clock do not keep the process alive, and nothing else does yet.
 */
export async function openRelaySupply(...what: Parameters<typeof relaySupply>): Promise<Supply> {
  for (let waited = 0; ; waited += retryMs) {
    try {
      return relaySupply(...what);
    } catch (error) {
      if (waited >= patienceMs || !isInUse(error)) throw error;
    }
    await delay(retryMs);
  }
}

function isInUse(error: unknown): boolean {
  return (
    error instanceof CliError &&
    error.cause instanceof XdsError &&
    error.cause.cause instanceof SnapshotInUse
  );
}

/** Creates a relay as a supply of a server. `certificates`: the files of the certificates that it shows upstream. Throws a CliError if the relay cannot be created. */
export function relaySupply(
  options: RelayOptions,
  what: Supply["what"],
  tell: Tell,
  certificates: readonly string[] = [],
): Supply {
  const shown = followUpstreamCertificates(certificates, options.clock ?? systemClock);
  const { promise: failed, resolve: fail }: PromiseWithResolvers<void> = Promise.withResolvers();
  const made = begin({
    ...options,
    onEvent(event) {
      if (!isOfCache(event)) {
        shown.observe(event);
        tell({ from: "upstream", event });
      } else tell({ from: "cache", event });
      if (event.kind === "feed-failed" && event.retryMs === undefined) fail();
    },
  });
  return {
    from: "relay",
    what,
    held: () => heldBy(made),
    serving: made.serving,
    upstreams: () => made.status().upstreams,
    health: () => [...made.status().upstreams.map(upstreamHealth), ...shown.rows()],
    originOf: (_, name) => upstreamOrigin(made, name),
    versions: () => relayVersions(made),
    rejections: () => made.rejections(),
    start: async () => failed,
    close: () => made.close(),
  };
}

/** Returns the state of the cache that all clients share. The number of resources includes those of each tenant. */
function heldBy(relay: Relay): Held {
  const { cache } = relay;
  return {
    ready: cache.ready,
    revision: cache.revision,
    resources: [cache, ...relay.tenants().map((tenant) => tenant.cache)].reduce(
      (sum, { counters }) => sum + counters.resources,
      0,
    ),
  };
}

type AnyEvent = Parameters<NonNullable<RelayOptions["onEvent"]>>[0];
type CacheKind = Exclude<AnyEvent, UpstreamEvent>["kind"];

const cacheKinds: Readonly<Record<CacheKind, true>> = {
  ready: true,
  "aliases-ignored": true,
  "version-reused": true,
  "variants-overlap": true,
  "feed-failed": true,
};

function isOfCache(event: AnyEvent): event is Exclude<AnyEvent, UpstreamEvent> {
  return event.kind in cacheKinds;
}

function begin(options: RelayOptions): Relay {
  try {
    return createRelay(options);
  } catch (error) {
    throw error instanceof XdsError
      ? new CliError(1, error.text.replace(/^opaqueKey/, "--opaque-key"), { cause: error })
      : error;
  }
}

const keyBytes = 32;

/** Returns the options of the snapshot, with the key from its file. Throws a CliError that does not show the content of the file. */
async function snapshotOptions({
  dir,
  keyFile,
}: NonNullable<RelayCall["snapshot"]>): Promise<SnapshotOptions> {
  return { dir, ...(keyFile !== undefined && { secretKey: await readKey(keyFile) }) };
}

/** Reads a key of 32 bytes: raw, in hexadecimal digits or in base64. */
async function readKey(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw new CliError(
      1,
      `--snapshot-key ${file}: ${(error as NodeJS.ErrnoException).code === "ENOENT" ? "the file does not exist" : (error as Error).message}; openssl rand -hex 32 makes one`,
      { cause: error },
    );
  });
  if (bytes.length === keyBytes) return bytes;
  const text = bytes.toString("latin1").trim();
  const key = /^[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text, "hex")
    : Buffer.from(text, "base64");
  if (key.length === keyBytes && /^[0-9a-zA-Z+/]+=?$/.test(text)) return key;
  throw new CliError(
    1,
    `--snapshot-key ${file}: a key is 32 bytes, as they are, as 64 hexadecimal digits or in base64; openssl rand -hex 32 makes one`,
  );
}

/** Returns the first server of the name's authority that is available. If none is, returns the first server and the reason. Returns `undefined` if no server has the authority. */
function upstreamOrigin({ federation }: Relay, name: string): ResourceOrigin | undefined {
  const servers = federation.status(authorityOf(name) ?? null);
  const [first] = servers;
  const used = servers.find(({ status, failure }) => status !== undefined && failure === undefined);
  if (used !== undefined) return { place: used.name };
  if (first === undefined) return undefined;
  const { failure } = first;
  return { place: first.name, ...(failure !== undefined && { problem: failure.text }) };
}

/** Returns the health of a server upstream. While it is unavailable, its last resources are still served, so it is stale. */
function upstreamHealth({ name, lastWordAt, staleSince, failure }: UpstreamStatus): Health {
  return {
    kind: "upstream",
    name,
    ...(lastWordAt !== undefined && { loadedAt: lastWordAt }),
    ...(staleSince !== undefined && {
      stale: { since: staleSince, reason: failure?.text ?? "its stream has ended" },
    }),
  };
}
