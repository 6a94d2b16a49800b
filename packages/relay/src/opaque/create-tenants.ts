import type { Cache, CacheOptions, FeedHandle } from "@xdstp/cache";
import {
  type ResourceFeed,
  type ResourceSource,
  type NodeClaim,
  XdsError,
  InterestMap,
  type Interest,
  forwardSource,
} from "@xdstp/core";
import type { StreamEvent } from "@xdstp/protocol/server";
import type { Federation } from "@xdstp/federation";

import type { Relay, RelayEvent } from "../relay.ts";
import type { NodeKey, NodeValues } from "./node-key.ts";
import { rejectNames } from "./reject-names.ts";

/** The cache of a tenant with its federation. It does not subscribe upstream before `start`. */
export interface TenantHub {
  readonly cache: Cache;
  readonly federation: Federation;
  /** The cache as it is served. */
  readonly source: ResourceSource;
  addFeed(feed: ResourceFeed): FeedHandle;
  /** Receives the answers of clients. */
  observe(event: StreamEvent): void;
  /** @param over - Wraps the feed from upstream */
  start(over?: (feed: ResourceFeed) => ResourceFeed): void;
  readonly close: () => Promise<void>;
}

/** Options of `createTenants`. */
export interface TenantOptions {
  readonly key: NodeKey;
  readonly most: number;
  /** The source for xdstp names, and for clients without a node. */
  readonly shared: ResourceSource;
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
  makeHub(key: NodeKey, values: NodeValues): TenantHub;
  readonly onEvent: ((event: RelayEvent) => void) | undefined;
}

/** The tenants that have separate opaque names (B-RELAY-2). */
export interface Tenants {
  /** Returns the source of a client: the same object for clients with equal keys. */
  viewFor(node: NodeClaim | undefined): ResourceSource;
  status(): ReturnType<Relay["tenants"]>;
  observe(event: StreamEvent): void;
  close(): Promise<void>;
}

interface Tenant {
  readonly values: NodeValues;
  readonly hub: TenantHub;
  /** Ends the wait of a tenant whose names are rejected. Absent: the tenant subscribes upstream. */
  admit?: () => void;
}

/**
 * Creates an empty set of tenants. A tenant begins with the first subscription of its clients to an
 * opaque name. It ends when it has had no subscriptions for the linger time.
 */
export function createTenants(options: TenantOptions): Tenants {
  const tenants = new Map<string, Tenant>();
  const views = new Map<string, WeakRef<ResourceSource>>();
  const gone = new FinalizationRegistry<string>((id) => {
    if (views.get(id)?.deref() === undefined) views.delete(id);
  });
  const root = createView({ ...options, opaque: () => options.shared, held: () => options.shared });

  /** The number of tenants that subscribe upstream. */
  let open = 0;

  const end = (id: string, tenant: Tenant): void => {
    if (tenants.get(id) !== tenant || tenant.hub.cache.counters.topics > 0) return;
    tenants.delete(id);
    void tenant.hub.close();
    if (tenant.admit !== undefined) return;
    open--;
    tenants
      .values()
      .find(({ admit }) => admit !== undefined)
      ?.admit?.();
  };
  const make = (id: string, values: NodeValues): Tenant => {
    const tenant: Tenant = { values, hub: options.makeHub(options.key, values) };
    const begin = (): void => {
      delete tenant.admit;
      open++;
      tenant.hub.start((feed) =>
        countInterest(feed, () => {
          end(id, tenant);
        }),
      );
    };
    if (open < options.most) begin();
    else
      hold(tenant, begin, options, () => {
        end(id, tenant);
      });
    tenants.set(id, tenant);
    // A reader that only reads a topic does not subscribe, so the tenant may end at once.
    queueMicrotask(() => {
      end(id, tenant);
    });
    return tenant;
  };
  const viewOf = (id: string, values: NodeValues): ResourceSource => {
    const opaque = (): ResourceSource => (tenants.get(id) ?? make(id, values)).hub.source;
    return createView({
      ...options,
      opaque,
      held: () => tenants.get(id)?.hub.source,
      viewOf: root,
      viewKey: textOf(values),
    });
  };
  return {
    viewFor(node) {
      if (node === undefined) return root;
      const values = options.key.valuesOf(node);
      const id = options.key.idOf(values);
      const known = views.get(id)?.deref();
      if (known !== undefined) return known;
      const view = viewOf(id, values);
      views.set(id, new WeakRef(view));
      gone.register(view, id);
      return view;
    },
    status: () =>
      tenants
        .values()
        .toArray()
        .map(({ values, hub, admit }) => ({
          values,
          cache: hub.cache,
          federation: hub.federation,
          waiting: admit !== undefined,
        })),
    observe(event) {
      for (const { hub } of tenants.values()) hub.observe(event);
    },
    async close() {
      await Promise.all(
        tenants
          .values()
          .toArray()
          .map(async ({ hub }) => hub.close()),
      );
    },
  };
}

/** Prints values as `cluster=gold, metadata.tier=1`. */
function textOf(values: NodeValues): string {
  return Object.entries(values)
    .map(
      ([field, value]) => `${field}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");
}

/** Rejects the names of a tenant until another one has ended, since there are too many. */
function hold(
  tenant: Tenant,
  begin: () => void,
  { most, onEvent }: TenantOptions,
  onIdle: () => void,
): void {
  const text = `a relay subscribes upstream to opaque names for at most ${most} kinds of clients, and this limit is reached; raise maxTenants, or choose a shorter opaqueKey`;
  onEvent?.({ kind: "tenant-rejected", values: tenant.values, reason: text });
  const rejecting = tenant.hub.addFeed(
    countInterest(
      rejectNames(idle, {
        isRejected: () => true,
        why: (typeUrl, resource) =>
          new XdsError("RESOURCE_EXHAUSTED", text, { typeUrl, resource, rule: "B-RELAY-2" }),
        outage: {
          scope: {},
          error: new XdsError("RESOURCE_EXHAUSTED", text, { rule: "B-RELAY-2" }),
        },
        onRejected: () => undefined,
      }),
      onIdle,
    ),
  );
  tenant.admit = () => {
    void rejecting.close();
    begin();
  };
}

/** A feed without resources. */
const idle: ResourceFeed = {
  run: (_, signal) =>
    new Promise((resolve) => {
      signal.addEventListener(
        "abort",
        () => {
          resolve();
        },
        { once: true },
      );
    }),
  want: () => undefined,
};

/** Wraps a feed. Calls back at the end of a turn in which the last subscription has ended. */
function countInterest(feed: ResourceFeed, onIdle: () => void): ResourceFeed {
  const wanted = new InterestMap<Interest>();
  return {
    run: async (sink, signal) => feed.run(sink, signal),
    want(typeUrl, added, dropped) {
      for (const interest of added) wanted.set(typeUrl, interest, interest.name, interest);
      for (const interest of dropped) wanted.delete(typeUrl, interest, interest.name);
      feed.want?.(typeUrl, added, dropped);
      if (wanted.size === 0 && dropped.length > 0)
        queueMicrotask(() => {
          if (wanted.size === 0) onIdle();
        });
    },
  };
}

/** The parts of a view. */
interface ViewParts {
  /** The source of xdstp names. */
  readonly shared: ResourceSource;
  /**
   * Returns the source of opaque names and `*`. Called for each lookup, since the source ends when
   * it is not used.
   */
  readonly opaque: () => ResourceSource;
  /** Returns the same source, or `undefined` if it would have to be created. */
  readonly held: () => ResourceSource | undefined;
  /** The revisions of both. */
  readonly revisions: NonNullable<CacheOptions["revisions"]>;
  /** The source of which this is a view. Absent: it is not the view of a tenant. */
  readonly viewOf?: ResourceSource;
  /** The tenant, as a text for display. */
  readonly viewKey?: string;
}

/**
 * Creates the source for the clients with one key. Each topic is that of the cache that has the
 * name (B-RELAY-2).
 */
function createView({
  shared,
  opaque,
  held,
  revisions,
  viewOf,
  viewKey,
}: ViewParts): ResourceSource {
  return forwardSource(shared, {
    get revision() {
      return revisions.last;
    },
    viewOf,
    viewKey,
    serves: (typeUrl) => shared.serves(typeUrl) || held()?.serves(typeUrl) === true,
    topic: (typeUrl, interest) =>
      (isOpaque(interest.name) ? opaque() : shared).topic(typeUrl, interest),
    asOf: (typeUrl, name, revision) =>
      (isOpaque(name) ? held() : shared)?.asOf?.(typeUrl, name, revision),
  });
}

/**
 * Returns true if the resource of a name may depend on the node of the subscriber (B-RELAY-2): for
 * all names except xdstp names, and for `*`.
 */
export function isOpaque(name: string): boolean {
  return !name.startsWith("xdstp:");
}
