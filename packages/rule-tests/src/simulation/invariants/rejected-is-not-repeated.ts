import type { Connection } from "@xdstp/testing";

import { CLUSTERS, referencesIn, ROUTES } from "../types.ts";
import { type ResourceView, variantOf, viewResources } from "../wire-view.ts";
import type { Report } from "../violation.ts";
import type { Invariant } from "./invariant.ts";

interface Last {
  nonce: number;
  hash: number;
  isRejected: boolean;
  /** The last part of something larger: what was rejected is more than that. */
  isPart: boolean;
  /** Something else was asked for since, or before and is not answered. */
  asks: boolean;
  /** Asked for, and not answered. */
  asked: readonly string[];
  /** SotW: all that is wanted. */
  names: readonly string[];
  bytes: Uint8Array;
}

/** What a rejected route may be sent again for. */
interface Clusters {
  /** Responses without an answer. */
  open: readonly { readonly nonce: number; readonly bytes: Uint8Array }[];
  /** Accepted since the routes were rejected. */
  readonly accepted: Set<string>;
  /** Named by the rejected routes, and not there when they were rejected. */
  missing: readonly string[];
}

/** Whether the server of a connection cannot answer a name yet. */
export type IsPending = (connection: Connection, typeUrl: string, name: string) => boolean;

/** Whether the server of a connection has a name. */
export type IsThere = IsPending;

/**
 * A response that was rejected does not come again unchanged (S-ACK-8), whatever has changed meanwhile, unless the client asks for something else: then what is wanted differs, until that is answered.
 * Routes come again once when the client has accepted a cluster since that they name, or one is there now that was not.
 */
export function rejectedIsNotRepeated(
  report: Report,
  isPending: IsPending = () => false,
  isThere: IsThere = () => false,
): Invariant {
  const streams = new WeakMap<Connection, Map<string, Last>>();
  const lastOf = (connection: Connection, typeUrl: string): Last => {
    const types = streams.get(connection) ?? new Map<string, Last>();
    streams.set(connection, types);
    const last = types.get(typeUrl) ?? {
      nonce: 0,
      hash: 0,
      isRejected: false,
      isPart: false,
      asks: false,
      asked: [],
      names: [],
      bytes: new Uint8Array(),
    };
    types.set(typeUrl, last);
    return last;
  };
  const clustersOf = new WeakMap<Connection, Clusters>();
  const clustersAt = (connection: Connection): Clusters => {
    const clusters = clustersOf.get(connection) ?? {
      open: [],
      accepted: new Set<string>(),
      missing: [],
    };
    clustersOf.set(connection, clusters);
    return clusters;
  };
  const resourcesIn = (connection: Connection, bytes: Uint8Array): readonly ResourceView[] =>
    viewResources(bytes, variantOf(connection));
  const clustersIn = (connection: Connection, routes: Uint8Array): readonly string[] =>
    resourcesIn(connection, routes).flatMap(({ payload }) =>
      referencesIn(payload).map(({ name }) => name),
    );
  const noteRejected = (connection: Connection, routes: Uint8Array): void => {
    const clusters = clustersAt(connection);
    clusters.accepted.clear();
    clusters.missing = clustersIn(connection, routes).filter(
      (name) => !isThere(connection, CLUSTERS, name),
    );
  };
  const noteAccepted = (connection: Connection, nonce: number): void => {
    const clusters = clustersAt(connection);
    for (const { nonce: sent, bytes } of clusters.open)
      if (sent <= nonce)
        for (const { name } of resourcesIn(connection, bytes)) clusters.accepted.add(name);
    clusters.open = clusters.open.filter(({ nonce: sent }) => sent > nonce);
  };
  /** Once: another rejection begins anew. */
  const isRetry = (connection: Connection, routes: Uint8Array): boolean => {
    const { accepted, missing } = clustersAt(connection);
    return clustersIn(connection, routes).some(
      (name) =>
        accepted.has(name) || (missing.includes(name) && isThere(connection, CLUSTERS, name)),
    );
  };
  /** The first part of something larger may be the same as before. */
  let suspect: { readonly connection: Connection; readonly typeUrl: string } | undefined;
  /** What has been said in this step, and not been answered in it. */
  const saying = new Set<Last>();
  return {
    onStep() {
      if (suspect !== undefined)
        report(
          "what was rejected is not repeated unchanged [S-ACK-8]",
          `connection ${suspect.connection.id}: the same response of ${suspect.typeUrl} again`,
        );
      suspect = undefined;
      saying.clear();
    },
    onResponse(connection, { typeUrl, nonce, hash, bytes }) {
      const last = lastOf(connection, typeUrl);
      if (typeUrl === CLUSTERS) {
        const clusters = clustersAt(connection);
        clusters.open = [...clusters.open, { nonce, bytes }];
      }
      if (suspect?.connection === connection && suspect.typeUrl === typeUrl) suspect = undefined;
      else if (
        last.isRejected &&
        !last.isPart &&
        !last.asks &&
        last.hash === hash &&
        !(typeUrl === ROUTES && isRetry(connection, bytes))
      )
        suspect = { connection, typeUrl };
      const asked = last.asked.filter((name) => isPending(connection, typeUrl, name));
      Object.assign(last, {
        nonce,
        hash,
        bytes,
        isRejected: false,
        isPart: saying.has(last),
        asks: asked.length > 0,
        asked,
      });
      saying.add(last);
    },
    onRequest(connection, { typeUrl, nonce, rejects, names, drops }) {
      const last = lastOf(connection, typeUrl);
      const isDelta = variantOf(connection) === "delta";
      last.asks ||= isDelta
        ? names.length > 0
        : names.length !== last.names.length || names.some((name) => !last.names.includes(name));
      last.asked = isDelta
        ? [...last.asked, ...names].filter((name) => !drops.includes(name))
        : names.filter((name) => last.asked.includes(name) || !last.names.includes(name));
      last.names = names;
      const isNewlyRejected = rejects && nonce === last.nonce && !last.isRejected;
      last.isRejected ||= isNewlyRejected;
      if (isNewlyRejected && typeUrl === ROUTES) noteRejected(connection, last.bytes);
      if (!rejects && typeUrl === CLUSTERS && nonce > 0) noteAccepted(connection, nonce);
      saying.delete(last);
    },
  };
}
