import { createChannels } from "@xdstp/bootstrap";
import { type ResourceSource, systemClock, XdsError } from "@xdstp/core";
import type { StreamEvent } from "@xdstp/protocol/server";
import { bootstrapFacts } from "@xdstp/federation";

import { createHub, type Hub } from "./create-hub.ts";
import { createNodeKey } from "./opaque/node-key.ts";
import { createTenants, type TenantOptions, type Tenants } from "./opaque/create-tenants.ts";
import { rejectOpaque } from "./opaque/reject-opaque.ts";
import type { TenantStatus } from "./opaque/tenant-status.ts";
import { createRejectionBook, type RejectionBook } from "./rejections/rejection-book.ts";
import type { Relay, RelayOptions } from "./relay.ts";
import { servingOf } from "./serving-of.ts";
import { createLastWords, type LastWords } from "./status/last-words.ts";
import { createLookUpBook, type LookUpBook } from "./status/look-ups.ts";
import type { RelayStatus } from "./status/relay-status.ts";
import { statusOf } from "./status/status-of.ts";
import { snapshotOf } from "./snapshot/snapshot-of.ts";
import type { SnapshotStore } from "./snapshot/snapshot-store.ts";

/**
 * Makes a relay: `createServer({ ...createRelay({ bootstrap }).serving })`. It connects when a client wants something.
 * Throws an XdsError where there is no bootstrap, or a broken one, or `opaqueKey` names a field that a node does not have, or `maxTenants` or `upstreamNames` is less than 1; and where the snapshot cannot be opened.
 */
export function createRelay({
  bootstrap,
  channels = createChannels(),
  onEvent,
  opaqueKey,
  maxTenants = 100,
  snapshot: given,
  ...options
}: RelayOptions = {}): Relay {
  if (!(maxTenants >= 1))
    throw new XdsError("INVALID_ARGUMENT", `maxTenants is ${maxTenants}; give 1 or more`);
  if (!((options.upstreamNames ?? 1) >= 1))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `upstreamNames is ${options.upstreamNames}; give 1 or more`,
    );
  const facts = bootstrapFacts(bootstrap);
  const words = createLastWords(options.clock ?? systemClock);
  const noted: NonNullable<RelayOptions["onEvent"]> = (event) => {
    words.note(event);
    onEvent?.(event);
  };
  const revisions = { last: 0 };
  const sharesAll = opaqueKey?.length === 0;
  const snapshot = snapshotOf(given, options.clock ?? systemClock, noted);
  const hubOptions = { ...options, onEvent: noted, facts, channels, revisions, snapshot };
  const hub = createHub(facts.node, { ...hubOptions, opaque: sharesAll });
  hub.start(sharesAll ? undefined : (feed) => rejectOpaque(feed, noted));
  const lookUps = createLookUpBook(hub.sources);
  const shared = lookUps.over(hub.source);
  const own = {
    node: facts.node,
    ...(options.userAgent !== undefined && { userAgent: options.userAgent }),
  };
  const makeHub: TenantOptions["makeHub"] = (key, values) => {
    const { node, ...userAgent } = key.nodeWith(own, values);
    const tenant = createHub(node, {
      ...hubOptions,
      ...userAgent,
      opaque: true,
      space: key.idOf(values),
    });
    return { ...tenant, source: lookUps.over(tenant.source) };
  };
  const tenants =
    opaqueKey === undefined || sharesAll
      ? undefined
      : createTenants({
          key: createNodeKey(opaqueKey),
          most: maxTenants,
          shared,
          revisions,
          makeHub,
          onEvent: noted,
        });
  return relayOf({
    hub,
    shared,
    tenants,
    words,
    lookUps,
    rejections: createRejectionBook(options.clock ?? systemClock, noted),
    isStaged: options.quorum !== undefined,
    snapshot,
  });
}

interface RelayParts {
  readonly hub: Hub;
  readonly shared: ResourceSource;
  /** Absent: all clients are served the same. */
  readonly tenants: Tenants | undefined;
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
  readonly rejections: RejectionBook;
  readonly isStaged: boolean;
  readonly snapshot: SnapshotStore | undefined;
}

function relayOf({
  hub,
  shared,
  tenants,
  words,
  lookUps,
  rejections,
  isStaged,
  snapshot,
}: RelayParts): Relay {
  const { cache, federation, sources, close: closeHub } = hub;
  const tenantsNow = (): readonly TenantStatus[] => tenants?.status() ?? [];
  const status = (): RelayStatus =>
    statusOf({
      sources,
      federations: [federation, ...tenantsNow().map((tenant) => tenant.federation)],
      words,
      lookUps,
      restored: () => [...(snapshot?.servings ?? [])].flatMap((serving) => [...serving()]),
    });
  const close = async (): Promise<void> => {
    await Promise.all([closeHub(), tenants?.close()]);
    await snapshot?.close();
  };
  const observe = (event: StreamEvent): void => {
    for (const listener of [rejections, hub, tenants]) listener?.observe(event);
  };
  const serving = servingOf({ shared, tenants, isStaged, observe, rejections: rejections.rows });
  return {
    source: serving.source,
    serving,
    cache,
    federation,
    status,
    rejections: rejections.rows,
    tenants: tenantsNow,
    close,
    [Symbol.asyncDispose]: close,
  };
}
