import type { Cache, NodeCaches } from "@xdstp/cache";
import type { ResourceSource } from "@xdstp/core";
import { versionOf } from "@xdstp/protocol/server";
import type { Relay } from "@xdstp/relay";
import { envoyTypes } from "@xdstp/resource-types";
import type { MetricsMeter } from "@xdstp/server";
import { cutText } from "./fit-text.ts";

/** Versions by type URL, in the form of VERSION in `xdstp status`. */
export type Versions = Readonly<Record<string, string>>;

/** The versions of all types that are served, to clients that subscribe to all of a type. */
export interface ServedVersions {
  /** For clients without a view of their own. */
  readonly shared: Versions;
  /** By view, that is node key or tenant: types that differ from the shared ones. At most {@link mostViews}, the first in alphabetical order. */
  readonly views: Readonly<Record<string, Versions>>;
  /** The number of views beyond these. */
  readonly moreViews: number;
}

/** The number of views whose versions are shown: each is a series of a metric for each of its types. */
export const mostViews = 100;

const envoyUrls = envoyTypes.map(({ typeUrl }) => typeUrl);

/** The versions of a cache with content per node. `own`: type URLs that are not of Envoy. */
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

/** Returns the versions of a relay, of the types that clients subscribe to with a wildcard. The other cached resources depend on the clients, so they have no common version. */
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

/** The key of a tenant, as client status shows it. */
function viewText(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(
      ([field, value]) => `${field}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    )
    .join(", ");
}

/** Characters of a view in a label, as in client status. */
const longestView = 256;

/** Shows the version of each type that is served, as a label: equal where the content is equal, on all replicas and after a restart. */
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
      // Two long views may be equal once they are cut, and a series must not come twice.
      const byLabel = new Map(
        Object.entries(views).map(([view, of]) => [cutText(view, longestView), of] as const),
      );
      for (const [view, of] of byLabel) observe(of, view);
    });
}
