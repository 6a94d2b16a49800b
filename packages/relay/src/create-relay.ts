import { systemClock, type ResourceSource } from "@xdstp/core";
import { bootstrapFacts, createChannels } from "@xdstp/federation";

import { createHub, type Hub } from "./create-hub.ts";
import { createNodeKey } from "./opaque/node-key.ts";
import { createTenants, type TenantOptions, type Tenants } from "./opaque/create-tenants.ts";
import { refuseOpaque } from "./opaque/refuse-opaque.ts";
import type { TenantStatus } from "./opaque/tenant-status.ts";
import type { Relay, RelayOptions, RelayPeer } from "./relay.ts";
import { createLastWords, type LastWords } from "./status/last-words.ts";
import { createLookUpBook, type LookUpBook } from "./status/look-ups.ts";
import type { RelayStatus } from "./status/relay-status.ts";
import { statusOf } from "./status/status-of.ts";

/**
 * Makes a relay: `createServer({ ...createRelay({ bootstrap }).serving })`. It connects when a client wants something.
 * Throws an XdsError where there is no bootstrap, or a broken one, or `opaqueKey` names a field that a node does not have.
 */
export function createRelay({ bootstrap, channels = createChannels(), onEvent, opaqueKey, maxTenants = 100, ...options }: RelayOptions = {}): Relay {
  const facts = bootstrapFacts(bootstrap);
  const words = createLastWords(options.clock ?? systemClock);
  const noted: NonNullable<RelayOptions["onEvent"]> = (event) => {
    words.note(event);
    onEvent?.(event);
  };
  const revisions = { last: 0 };
  const sharesAll = opaqueKey?.length === 0;
  const hubOptions = { ...options, onEvent: noted, facts, channels, revisions };
  const hub = createHub(facts.node, { ...hubOptions, opaque: sharesAll });
  hub.start(sharesAll ? undefined : (feed) => refuseOpaque(feed, noted));
  const lookUps = createLookUpBook(hub.sources);
  const shared = lookUps.over(hub.cache);
  const own = { node: facts.node, ...(options.userAgent !== undefined && { userAgent: options.userAgent }) };
  const makeHub: TenantOptions["makeHub"] = (key, values) => {
    const { node, ...userAgent } = key.nodeWith(own, values);
    const tenant = createHub(node, { ...hubOptions, ...userAgent, opaque: true });
    return { ...tenant, source: lookUps.over(tenant.cache) };
  };
  const tenants = opaqueKey === undefined || sharesAll ? undefined : createTenants({ key: createNodeKey(opaqueKey), most: maxTenants, shared, revisions, makeHub, onEvent: noted });
  return relayOf({ hub, shared, tenants, words, lookUps });
}

interface RelayParts {
  readonly hub: Hub;
  readonly shared: ResourceSource;
  /** Absent: all clients are served the same. */
  readonly tenants: Tenants | undefined;
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
}

function relayOf({ hub: { cache, federation, sources, close: closeHub }, shared, tenants, words, lookUps }: RelayParts): Relay {
  const source = tenants?.viewFor(undefined) ?? shared;
  const tenantsNow = (): readonly TenantStatus[] => tenants?.status() ?? [];
  const status = (): RelayStatus => statusOf({ sources, federations: [federation, ...tenantsNow().map((tenant) => tenant.federation)], words, lookUps });
  const close = async (): Promise<void> => { await Promise.all([closeHub(), tenants?.close()]); };
  const serving = { source, ...(tenants !== undefined && { sourceFor: ({ node }: RelayPeer) => tenants.viewFor(node) }) };
  return { source, serving, cache, federation, status, tenants: tenantsNow, close, [Symbol.asyncDispose]: close };
}
