import type { Cache, NodeCaches } from "@xdstp/cache";
import type { ResourceSource } from "@xdstp/core";
import { versionOf } from "@xdstp/protocol/server";
import type { Relay } from "@xdstp/relay";
import { envoyTypes } from "@xdstp/resource-types";
import type { MetricsMeter } from "@xdstp/server";
import { cutText } from "./fit-text.ts";

/** Versions by type URL, as the VERSION column of `xdstp status` shows them. */
export type Versions = Readonly<Record<string, string>>;

/** The versions of all served types, as a client that subscribes to all of a type shows them. */
export interface ServedVersions {
  /** The versions for clients without a view of their own. */
  readonly shared: Versions;
  /** The types whose version differs, by view (node key or tenant). It has at most {@link mostViews} views, the first ones in alphabetical order. */
  readonly views: Readonly<Record<string, Versions>>;
  /** The number of views that `views` leaves out. */
  readonly moreViews: number;
}

/** The number of views whose versions are shown. Each type of each view is a series of a metric. */
export const mostViews = 100;

const envoyUrls = envoyTypes.map(({ typeUrl }) => typeUrl);

/** Returns the versions of a cache with content per node. `own`: the type URLs that are not of the Envoy API. */
export function nodeVersions(nodes: NodeCaches, own: readonly string[]): ServedVersions {
  const typeUrls = [...envoyUrls, ...own];
  const shared = versionsOf(nodes.shared, typeUrls);
  return {
    shared,
    ...viewsOf(nodes.keys(), (key) => {
      const content = nodes.of(key);
      const isOwned = (typeUrl: string): boolean =>
        !content.held(typeUrl)[Symbol.iterator]().next().done;
      return versionsOf(content, typeUrls.filter(isOwned));
    }),
  };
}

/** Returns the versions of a relay for the types that clients subscribe to with a wildcard. The other cached resources depend on the subscriptions of clients, so they do not have a common version. */
export function relayVersions({
  cache,
  tenants,
}: Pick<Relay, "cache" | "tenants">): ServedVersions {
  const byView = new Map(
    tenants().map((tenant) => [viewText(tenant.values), tenant.cache] as const),
  );
  return {
    shared: settledVersions(cache),
    ...viewsOf([...byView.keys()], (view) => {
      const own = byView.get(view);
      return own === undefined ? {} : settledVersions(own);
    }),
  };
}

function settledVersions(cache: Cache): Versions {
  return versionsOf(
    cache,
    envoyUrls.filter(
      (typeUrl) => cache.serves(typeUrl) && cache.topic(typeUrl, { name: "*" }).settled,
    ),
  );
}

function versionsOf(source: ResourceSource, typeUrls: readonly string[]): Versions {
  return Object.fromEntries(
    typeUrls.flatMap((typeUrl) => {
      const topic = source.serves(typeUrl) ? source.topic(typeUrl, { name: "*" }) : undefined;
      return topic === undefined || topic.members().length === 0
        ? []
        : [[typeUrl, topic.label ?? versionOf(topic.hash)]];
    }),
  );
}

function viewsOf(
  all: readonly string[],
  versions: (view: string) => Versions,
): Pick<ServedVersions, "views" | "moreViews"> {
  const shown = all.toSorted().slice(0, mostViews);
  return {
    views: Object.fromEntries(
      shown
        .map((view) => [view, versions(view)] as const)
        .filter(([, own]) => Object.keys(own).length > 0),
    ),
    moreViews: all.length - shown.length,
  };
}

/** Returns the key of a tenant, as client status shows it. */
function viewText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(
      ([field, value]) => `${field}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");
}

/** The number of characters of a view in a label, as in client status. */
const longestView = 256;

/** Creates a metric with the version of each served type as a label. The version is equal for equal content, on all replicas and after a restart. */
export function recordVersions(meter: MetricsMeter, versions: () => ServedVersions): void {
  meter
    .createObservableGauge("xdstp_version_info", {
      description:
        "Always 1: the version of a type that is served, made of its content, as in xdstp status; with a view, for the clients with that node key or tenant",
    })
    .addCallback((result) => {
      const observe = (of: Versions, view?: string): void => {
        for (const [typeUrl, version] of Object.entries(of))
          result.observe(1, {
            type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1),
            ...(view !== undefined && { view }),
            version,
          });
      };
      const { shared, views } = versions();
      observe(shared);
      // Two long views may become equal when they are cut. A series may occur only once, so the last one is used.
      const byLabel = new Map(
        Object.entries(views).map(([view, of]) => [cutText(view, longestView), of] as const),
      );
      for (const [view, of] of byLabel) observe(of, view);
    });
}
