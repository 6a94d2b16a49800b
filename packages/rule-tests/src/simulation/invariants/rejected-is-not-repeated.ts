import type { Reference } from "@xdstp/core";
import type { Connection } from "@xdstp/testing";

import { type ResponseContent, variantOf } from "../wire-view.ts";
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
  /** The responses that were sent and not accepted yet. */
  said: readonly (() => ResponseContent)[];
  /** Something of the type was accepted on this connection. */
  hasAccepted: boolean;
  /** The references of the rejected content that were not accepted since. */
  missed: readonly Reference[];
  /** The client has accepted one of these references since: the content may be sent again once (S-ACK-21). */
  mayRetry: boolean;
}

/** Returns true if the server of a connection cannot answer a name yet. */
export type IsPending = (connection: Connection, typeUrl: string, name: string) => boolean;

/**
 * A response that was rejected does not come again unchanged (S-ACK-8), whatever has changed meanwhile, with two exceptions. The client has subscribed to something else, until that is answered. Or it has accepted a reference of the rejected content since (S-ACK-21).
 */
export function rejectedIsNotRepeated(
  report: Report,
  isPending: IsPending = () => false,
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
      said: [],
      hasAccepted: false,
      missed: [],
      mayRetry: false,
    };
    types.set(typeUrl, last);
    return last;
  };
  /** Notes an ACK: rejected content of other types may refer to the accepted names. The first ACK of a type also accepts the resources that the client had before the stream. */
  const accept = (connection: Connection, typeUrl: string, accepted: Last): void => {
    const waiting = streams
      .get(connection)
      ?.values()
      .filter(({ missed }) => missed.some((reference) => reference.typeUrl === typeUrl));
    const names = new Set<string>();
    for (const last of waiting ?? []) {
      if (names.size === 0)
        for (const said of accepted.said) for (const name of said().names) names.add(name);
      const isThere = (reference: Reference): boolean =>
        reference.typeUrl === typeUrl && (!accepted.hasAccepted || names.has(reference.name));
      last.mayRetry ||= last.missed.some(isThere);
      last.missed = last.missed.filter((reference) => !isThere(reference));
    }
    Object.assign(accepted, { said: [], missed: [], hasAccepted: true });
  };
  /** The first part of something larger may be the same as before. */
  const suspects = new Map<Last, { readonly connection: Connection; readonly typeUrl: string }>();
  /** The responses that were sent in this step, and not answered in it. A full window makes what belongs together take longer. */
  const saying = new Map<Last, Connection>();
  return {
    onStep() {
      for (const [last, { connection, typeUrl }] of suspects) {
        const isPaused = connection.isPaused("server");
        // What follows comes when the client has read on, or never, if the connection ends before.
        if (isPaused && connection.isOpen("server")) continue;
        suspects.delete(last);
        if (isPaused) continue;
        report(
          "what was rejected is not repeated unchanged [S-ACK-8]",
          `connection ${connection.id}: the same response of ${typeUrl} again`,
        );
      }
      for (const [last, connection] of saying)
        if (!connection.isPaused("server") || !connection.isOpen("server")) saying.delete(last);
    },
    onResponse(connection, { typeUrl, nonce, hash, content }) {
      const last = lastOf(connection, typeUrl);
      const isFollowed = suspects.delete(last);
      if (
        !isFollowed &&
        last.isRejected &&
        !last.isPart &&
        !last.asks &&
        !last.mayRetry &&
        last.hash === hash
      )
        suspects.set(last, { connection, typeUrl });
      const asked = last.asked.filter((name) => isPending(connection, typeUrl, name));
      Object.assign(last, {
        nonce,
        hash,
        isRejected: false,
        isPart: saying.has(last),
        asks: asked.length > 0,
        asked,
        said: [...last.said, content],
        mayRetry: false,
      });
      saying.set(last, connection);
    },
    onRequest(connection, { typeUrl, nonce, rejects, names, drops }) {
      const last = lastOf(connection, typeUrl);
      if (variantOf(connection) === "delta") {
        last.asks ||= names.length > 0;
        last.asked = [...last.asked, ...names].filter((name) => !drops.includes(name));
      } else if (!Number.isNaN(nonce) && nonce !== last.nonce) {
        // It crossed a response, or answers one of a call that arrived twice. What its list adds is requested by the answer to the newest response (S-NONCE-6).
        last.asked = last.asked.filter((name) => names.includes(name));
        // A dropped name changes the wanted set at once.
        last.asks ||= last.names.some((name) => !names.includes(name));
        last.names = last.names.filter((name) => names.includes(name));
      } else {
        last.asks ||=
          names.length !== last.names.length || names.some((name) => !last.names.includes(name));
        last.asked = names.filter(
          (name) => last.asked.includes(name) || !last.names.includes(name),
        );
        last.names = names;
      }
      last.isRejected ||= rejects && nonce === last.nonce;
      if (rejects) last.missed = last.said.flatMap((said) => [...said().refersTo]);
      else if (nonce === last.nonce) accept(connection, typeUrl, last);
      saying.delete(last);
    },
  };
}
