import type { Clock, Entry } from "@xdstp/core";
import type { HeldByResponse, StreamEvent } from "@xdstp/core/server";

import { clientKey } from "../quorum/client-key.ts";
import type { RefusedVersion } from "./refused-version.ts";

/** What clients refuse. */
export interface RefusalBook {
  hear(event: StreamEvent): void;
  /** Newest first. */
  readonly rows: () => readonly RefusedVersion[];
}

interface Row extends Omit<RefusedVersion, "clients" | "among"> {
  readonly clients: Set<string>;
  among: number;
}

/** So many versions are kept, and so many of one response. */
const MOST = 1_000;
const MOST_OF_ONE = 100;

/** An empty book. It keeps the newest 1,000 versions. */
export function createRefusalBook(clock: Clock): RefusalBook {
  const rows = new Map<string, Row>();
  const note = (typeUrl: string, { name, resource }: Entry, client: string, reason: string, among: number): void => {
    const version = resource?.version ?? "";
    const key = JSON.stringify([typeUrl, name, version]);
    const row = rows.get(key) ?? { typeUrl, name, version, clients: new Set<string>(), among, reason, since: clock.now() };
    row.clients.add(client);
    row.among = Math.min(row.among, among);
    rows.set(key, row);
    for (const oldest of rows.size > MOST ? rows.keys().take(1) : []) rows.delete(oldest);
  };
  return {
    hear(event) {
      if (event.kind !== "nack" || event.held === undefined) return;
      const news = newsOf(event.held);
      const client = clientKey(event.stream) ?? `stream ${event.stream.id}`;
      for (const entry of news.slice(0, MOST_OF_ONE)) note(event.typeUrl, entry, client, event.error.message, news.length);
    },
    rows: () => [...rows.values()].reverse().map((row) => ({ ...row, clients: row.clients.size })),
  };
}

/** What of a response its client did not have; all of it, where that cannot be told. */
function newsOf({ entries, base }: HeldByResponse): readonly Entry[] {
  const news = entries.filter(({ revision }) => revision > base);
  return news.length === 0 ? entries : news;
}
