import type { Connection } from "@xdstp/testing";

import { variantOf } from "../wire-view.ts";
import type { Report } from "../violation.ts";
import type { Invariant } from "./invariant.ts";

interface Last {
  nonce: number;
  hash: number;
  isRefused: boolean;
  /** Something else was asked for since. */
  asks: boolean;
  /** SotW: all that is wanted. */
  names: string;
}

/**
 * A response that was refused does not come again unchanged (S-ACK-8), whatever has changed meanwhile, unless the client asks for something else: then what is wanted differs.
 */
export function refusedIsNotRepeated(report: Report): Invariant {
  const streams = new WeakMap<Connection, Map<string, Last>>();
  const lastOf = (connection: Connection, typeUrl: string): Last => {
    const types = streams.get(connection) ?? new Map<string, Last>();
    streams.set(connection, types);
    const last = types.get(typeUrl) ?? { nonce: 0, hash: 0, isRefused: false, asks: false, names: "" };
    types.set(typeUrl, last);
    return last;
  };
  /** The first part of something larger may be the same as before. */
  let suspect: { readonly connection: Connection; readonly typeUrl: string } | undefined;
  return {
    onStep() {
      if (suspect !== undefined) report("what was refused is not repeated unchanged [S-ACK-8]", `connection ${suspect.connection.id}: the same response of ${suspect.typeUrl} again`);
      suspect = undefined;
    },
    onResponse(connection, { typeUrl, nonce, hash }) {
      const last = lastOf(connection, typeUrl);
      if (suspect?.connection === connection && suspect.typeUrl === typeUrl) suspect = undefined;
      else if (last.isRefused && !last.asks && last.hash === hash) suspect = { connection, typeUrl };
      Object.assign(last, { nonce, hash, isRefused: false, asks: false });
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
