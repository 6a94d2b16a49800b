import { createChannels } from "@xdstp/bootstrap";
import {
  type ResourceSource,
  systemClock,
  XdsError,
  type ResourceFeed,
  type Clock,
} from "@xdstp/core";
import type { StreamEvent, RejectedVersion } from "@xdstp/protocol/server";
import { bootstrapFacts } from "@xdstp/federation";
import { clientKey, readerView } from "@xdstp/rollout";
import {
  openSnapshot,
  type Snapshot,
  type SnapshotEvent,
  type SnapshotOptions,
} from "@xdstp/snapshot";

import { createHub, type Hub } from "./create-hub.ts";
import { createNodeKey } from "./opaque/node-key.ts";
import {
  createTenants,
  type TenantOptions,
  type Tenants,
  isOpaque,
} from "./opaque/create-tenants.ts";
import type { Relay, RelayEvent, RelayOptions } from "./relay.ts";
import { createRejectionBook, type RejectionBook } from "./rejections/rejection-book.ts";
import {
  createLastWords,
  createLookUpBook,
  type LastWords,
  type LookUpBook,
  statusOf,
} from "./status/status-of.ts";
import { rejectNames } from "./opaque/reject-names.ts";

/**
 * Creates a relay: `createServer({ ...createRelay({ bootstrap }).serving })`. It connects when a
 * client subscribes.
 * Throws an XdsError if the bootstrap is missing or invalid, if `opaqueKey` has a field that a node
 * does not have, if `maxTenants` or `upstreamNames` is less than 1, or if the snapshot cannot be
 * opened.
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
  /** The sources of opaque names, by kind of client. Absent: all clients are served the same. */
  readonly tenants: Tenants | undefined;
  readonly words: LastWords;
  readonly lookUps: LookUpBook;
  readonly rejections: RejectionBook;
  readonly isStaged: boolean;
  readonly snapshot: Snapshot | undefined;
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
  const tenantsNow = (): ReturnType<Relay["tenants"]> => tenants?.status() ?? [];
  const status = (): ReturnType<Relay["status"]> =>
    statusOf({
      sources,
      federations: [federation, ...tenantsNow().map((tenant) => tenant.federation)],
      words,
      lookUps,
      restored: () => snapshot?.served() ?? [],
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

const reason =
  "a relay shares its cache, and the resource of an opaque name may depend on the node of the client: use xdstp:// names, or set opaqueKey of the relay to the fields of the node that it depends on";

/**
 * Wraps a feed without opaque names. Their error is not a data error, so a client that connects
 * here by mistake keeps its cached resources (S-ERR-3).
 */
function rejectOpaque(feed: ResourceFeed, onEvent: (event: RelayEvent) => void): ResourceFeed {
  return rejectNames(feed, {
    isRejected: isOpaque,
    why: (typeUrl, resource) =>
      new XdsError("FAILED_PRECONDITION", reason, { typeUrl, resource, rule: "B-RELAY-2" }),
    outage: {
      scope: { authority: null },
      error: new XdsError("FAILED_PRECONDITION", reason, { rule: "B-RELAY-2" }),
    },
    onRejected(typeUrl, names) {
      onEvent({ kind: "opaque-rejected", typeUrl, names, reason });
    },
  });
}

/** The sources that a relay serves, and the observers of its clients. */
interface ServingParts {
  /** The source for all clients. */
  readonly shared: ResourceSource;
  /** The sources of opaque names, by kind of client. Absent: all clients are served the same. */
  readonly tenants: Tenants | undefined;
  /** True if some clients receive changes before the others. */
  readonly isStaged: boolean;
  /** Receives the answers of clients. */
  readonly observe: (event: StreamEvent) => void;
  /** Returns the versions that clients have rejected. */
  readonly rejections: () => readonly RejectedVersion[];
}

/** Returns the options for `createServer`: the source for each client, and the observers. */
function servingOf({
  shared,
  tenants,
  isStaged,
  observe,
  rejections,
}: ServingParts): Relay["serving"] {
  const source = Object.assign(tenants?.viewFor(undefined) ?? shared, { observe, rejections });
  const sourceFor: Relay["serving"]["sourceFor"] = (peer) => {
    const view = tenants?.viewFor(peer.node) ?? source;
    const client = isStaged && !isFetch(peer) ? clientKey(peer) : undefined;
    return client === undefined ? view : readerView(view, client);
  };
  return { source, ...((tenants !== undefined || isStaged) && { sourceFor }) };
}

/**
 * Returns true if a client uses Fetch. Such a client sends its ACK or NACK only when it fetches
 * again.
 */
function isFetch({ path }: { readonly path?: string }): boolean {
  return path?.includes("/Fetch") === true;
}

/** Returns the snapshot in the options of a relay, or opens it with the clock and events of the relay. */
function snapshotOf(
  given: Snapshot | SnapshotOptions | undefined,
  clock: Clock,
  onEvent: (event: SnapshotEvent) => void,
): Snapshot | undefined {
  if (given === undefined || "keep" in given) return given;
  if ("dir" in given) return openSnapshot({ clock, onEvent, ...given });
  throw new XdsError(
    "INVALID_ARGUMENT",
    "the snapshot of a relay was not made by openSnapshot; give { dir } or the result of openSnapshot",
  );
}
