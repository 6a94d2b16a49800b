import type { Connection } from "@xdstp/testing";
import { nameKey } from "@xdstp/uri";

import { CLUSTERS, referencesIn, ROUTES } from "../types.ts";
import type { Report } from "../violation.ts";
import { type ResourceView, variantOf, viewResources } from "../wire-view.ts";
import type { Invariant } from "./invariant.ts";

/** What one connection was sent of clusters. */
interface Clusters {
  /** Sent and not answered, each with the time. */
  open: readonly {
    readonly nonce: number;
    readonly names: readonly string[];
    readonly at: number;
  }[];
  /** When each was accepted last. */
  readonly acceptedAt: Map<string, number>;
  /** A response was answered, or the client came with a version and may have everything already. */
  isAnswered: boolean;
  /** When the client last subscribed to something else, in milliseconds since the epoch. */
  askedAt: number;
  names: readonly string[];
  /** The newest text of each route that was sent, with the time: one state is checked once. */
  readonly routes: Map<string, { readonly text: string; readonly at: number }>;
  /** Routes that were sent and not answered. */
  openRoutes: readonly { readonly nonce: number; readonly texts: ReadonlyMap<string, string> }[];
  /** When the client subscribed to routes: the first state of them waits as a whole. */
  firstAt: number;
  /** Accepted by the client: it may be sent again what it has. */
  readonly held: Map<string, string>;
}

function textOf(payload: Uint8Array): string {
  return Buffer.from(payload).toString("latin1");
}

/** A route waits at most so many milliseconds for the clusters that it names. */
const LIMIT = 15_000;

/**
 * A new state of a route is not sent before the client has accepted the clusters on their way that it names, within the limit of a wait (S-ORD-2, S-ORD-4).
 * This concerns clusters that are new since the client subscribed, and all of its first response. What a client subscribes later it may know of by that route.
 */
export function routesAreNotEarly(report: Report, now: () => number): Invariant {
  const connections = new WeakMap<Connection, Clusters>();
  /** By server and name. */
  const createdAt = new Map<string, number>();
  const changedAt = new Map<string, number[]>();
  const serverOf = ({ address }: Connection): string => address.split("/")[0] ?? "";
  /** Relays have what the first server has. */
  const keyAt = (connection: Connection, name: string): string => {
    const key = `${serverOf(connection)} ${name}`;
    return createdAt.has(key) ? key : `server 0 ${name}`;
  };
  const present = new Set<string>();
  const clustersAt = (connection: Connection): Clusters => {
    const clusters = connections.get(connection) ?? {
      open: [],
      acceptedAt: new Map<string, number>(),
      isAnswered: false,
      askedAt: now(),
      names: [],
      routes: new Map<string, { readonly text: string; readonly at: number }>(),
      openRoutes: [],
      firstAt: now(),
      held: new Map<string, string>(),
    };
    connections.set(connection, clusters);
    return clusters;
  };
  const noteRoute = (connection: Connection, { name: spelled, payload }: ResourceView): void => {
    const name = nameKey(spelled);
    const { open, acceptedAt, routes, isAnswered, askedAt, held, firstAt } = clustersAt(connection);
    const text = textOf(payload);
    const before = routes.get(name);
    if (before?.text === text) return;
    routes.set(name, { text, at: now() });
    if (held.get(name) === text) return;
    // Later changes do not begin its wait again.
    const changes = changedAt.get(`${serverOf(connection)} ${name}`) ?? [];
    const changed = changes.find((at) => at >= (before?.at ?? 0)) ?? Infinity;
    for (const { name: named } of referencesIn(payload)) {
      const cluster = nameKey(named);
      const first = open.find(({ names }) => names.includes(cluster));
      const known = Math.max(askedAt, acceptedAt.get(cluster) ?? 0);
      const created = [createdAt.get(keyAt(connection, cluster)) ?? 0].filter((at) => at > known);
      const isNew = created.length > 0 || (!isAnswered && !acceptedAt.has(cluster));
      // Nothing waits for what has gone.
      if (first === undefined || !present.has(keyAt(connection, cluster))) continue;
      const began = held.size === 0 ? firstAt : Infinity;
      const since = Math.min(changed, first.at, began, ...created);
      if (isNew && now() - since < LIMIT)
        report(
          "a route is not sent before the client has accepted the cluster that it names [S-ORD-2] [S-ORD-4]",
          `connection ${connection.id}: ${name} names ${cluster}, sent ${now() - first.at} ms ago and not accepted`,
        );
    }
  };
  return {
    onCommit(server, values) {
      for (const { typeUrl, name, text } of values) {
        const key = `${server} ${nameKey(name)}`;
        if (typeUrl === ROUTES)
          changedAt.set(key, [...(changedAt.get(key) ?? []), now()].slice(-50));
        if (typeUrl !== CLUSTERS) continue;
        if (text === undefined) present.delete(key);
        else if (!present.has(key)) {
          present.add(key);
          createdAt.set(key, now());
        }
      }
    },
    onResponse(connection, { typeUrl, nonce, bytes }) {
      if (typeUrl !== CLUSTERS && typeUrl !== ROUTES) return;
      const resources = viewResources(bytes, variantOf(connection));
      const clusters = clustersAt(connection);
      if (typeUrl === ROUTES) {
        for (const route of resources) noteRoute(connection, route);
        const texts = new Map(
          resources.map(({ name, payload }) => [nameKey(name), textOf(payload)] as const),
        );
        clusters.openRoutes = [...clusters.openRoutes, { nonce, texts }];
      } else {
        const names = resources.map(({ name }) => nameKey(name));
        clusters.open = [...clusters.open, { nonce, names, at: now() }];
      }
    },
    onRequest(connection, { typeUrl, nonce, rejects, names, version = "" }) {
      const clusters = clustersAt(connection);
      if (typeUrl === ROUTES && nonce > 0) {
        const answered = clusters.openRoutes.filter((response) => response.nonce <= nonce);
        clusters.openRoutes = clusters.openRoutes.filter((response) => response.nonce > nonce);
        if (!rejects)
          for (const { texts } of answered)
            for (const [name, text] of texts) clusters.held.set(name, text);
      }
      if (typeUrl !== CLUSTERS) return;
      if (version !== "") clusters.isAnswered = true;
      const isDelta = variantOf(connection) === "delta";
      if (isDelta ? names.length > 0 : names.join() !== clusters.names.join())
        clusters.askedAt = now();
      clusters.names = names;
      if (!(nonce > 0)) return;
      const answered = clusters.open.filter((response) => response.nonce <= nonce);
      if (answered.length === 0) return;
      clusters.open = clusters.open.filter((response) => response.nonce > nonce);
      clusters.isAnswered = true;
      if (rejects) return;
      for (const { names: sent } of answered)
        for (const name of sent) clusters.acceptedAt.set(name, now());
    },
  };
}
