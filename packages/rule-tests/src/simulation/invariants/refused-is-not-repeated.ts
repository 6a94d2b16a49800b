import type { Connection } from "@xdstp/testing";

import { variantOf } from "../wire-view.ts";
import { CLUSTERS, ENDPOINTS, ROUTES } from "../types.ts";
import type { Report } from "../violation.ts";
import type { Invariant } from "./invariant.ts";

interface Last {
  nonce: number;
  hash: number;
  /** How often something had been committed of the type when it was sent. */
  commits: number;
  isRefused: boolean;
  /** How often it has come again. */
  repeats: number;
  /** Something else was asked for since. */
  asks: boolean;
  /** SotW: all that is wanted. */
  names: string;
}

/**
 * A response that was refused does not come again unchanged (S-ACK-8), unless the client asks for something else, or something of the type is committed in between: then an alias that is given up again is news to our server, and none to the client.
 * Of types that refer to each other it may come once more: what waits for a type that is refused is looked at anew when that moves, and said again although it is the same.
 */
export function refusedIsNotRepeated(report: Report): Invariant {
  const streams = new WeakMap<Connection, Map<string, Last>>();
  const commits = new Map<string, number>();
  const commitsOf = (connection: Connection, typeUrl: string): number => commits.get(`${serverOf(connection)} ${typeUrl}`) ?? 0;
  const lastOf = (connection: Connection, typeUrl: string): Last => {
    const types = streams.get(connection) ?? new Map<string, Last>();
    streams.set(connection, types);
    const last = types.get(typeUrl) ?? { nonce: 0, hash: 0, commits: 0, isRefused: false, repeats: 0, asks: false, names: "" };
    types.set(typeUrl, last);
    return last;
  };
  return {
    onCommit(server, typeUrls) {
      for (const typeUrl of typeUrls) commits.set(`${server} ${typeUrl}`, (commits.get(`${server} ${typeUrl}`) ?? 0) + 1);
    },
    onResponse(connection, { typeUrl, nonce, hash }) {
      const last = lastOf(connection, typeUrl);
      const count = commitsOf(connection, typeUrl);
      const isSame = last.isRefused && !last.asks && last.hash === hash && last.commits === count;
      const repeats = isSame ? last.repeats + 1 : 0;
      if (repeats > (related.has(typeUrl) ? 1 : 0)) report("what was refused is not repeated unchanged [S-ACK-8]", `connection ${connection.id}: the same response of ${typeUrl} again`);
      Object.assign(last, { nonce, hash, commits: count, isRefused: false, repeats, asks: false });
    },
    onRequest(connection, { typeUrl, nonce, refuses, names }) {
      const last = lastOf(connection, typeUrl);
      const list = [...names].sort().join(" ");
      last.asks ||= variantOf(connection) === "delta" ? list !== "" : list !== last.names;
      last.names = list;
      last.isRefused ||= refuses && nonce === last.nonce;
    },
  };
}

const related: ReadonlySet<string> = new Set([CLUSTERS, ENDPOINTS, ROUTES]);

function serverOf({ address }: Connection): string {
  return address.slice(0, address.indexOf("/"));
}
