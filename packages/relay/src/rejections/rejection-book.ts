import type { Clock, Entry } from "@xdstp/core";
import type {
  HeldByResponse,
  RejectedVersion,
  StreamEvent,
  StreamInfo,
} from "@xdstp/protocol/server";
import { clientKey } from "@xdstp/rollout";
import type { RelayEvent } from "../relay.ts";

/** The rejections of clients. */
export interface RejectionBook {
  observe(event: StreamEvent): void;
  /** Newest first. */
  readonly rows: () => readonly RejectedVersion[];
}

interface Row extends Omit<RejectedVersion, "clients" | "by" | "among"> {
  readonly clients: Set<string>;
  readonly by: string[];
  among: number;
}

/**
 * Limits: the number of versions, of versions of one response, and of client names of each version.
 */
const MOST = 1_000;
const MOST_OF_ONE = 100;
const MOST_NAMED = 8;

/**
 * Creates an empty table. It keeps the newest 1,000 versions, and reports each version and client
 * once.
 */
export function createRejectionBook(
  clock: Clock,
  tell: (event: Extract<RelayEvent, { readonly kind: "resource-rejected" }>) => void,
): RejectionBook {
  const rows = new Map<string, Row>();
  const note = (
    typeUrl: string,
    { name, resource }: Entry,
    stream: StreamInfo,
    reason: string,
    among: number,
  ): void => {
    const version = resource?.version ?? "";
    const key = JSON.stringify([typeUrl, name, version]);
    const row = rows.get(key) ?? {
      typeUrl,
      name,
      version,
      clients: new Set<string>(),
      by: [],
      among,
      reason,
      since: clock.wallTime(),
    };
    const isNew =
      row.clients.size < row.clients.add(clientKey(stream) ?? `stream ${stream.id}`).size;
    if (isNew && row.by.length < MOST_NAMED) row.by.push(whoIs(stream));
    row.among = Math.min(row.among, among);
    rows.set(key, row);
    for (const oldest of rows.size > MOST ? rows.keys().take(1) : []) rows.delete(oldest);
    if (isNew)
      tell({
        kind: "resource-rejected",
        typeUrl,
        name,
        version,
        client: whoIs(stream),
        among,
        reason,
      });
  };
  return {
    observe(event) {
      if (event.kind !== "nack" || event.held === undefined) return;
      const updates = updatesOf(event.held);
      for (const entry of updates.slice(0, MOST_OF_ONE))
        note(event.typeUrl, entry, event.stream, event.error.message, updates.length);
    },
    rows: () =>
      [...rows.values()]
        .reverse()
        .map((row) => ({ ...row, clients: row.clients.size, by: [...row.by] })),
  };
}

/** An unverified node id is more useful than an address. */
function whoIs({ identity, node, peer }: StreamInfo): string {
  if (identity !== undefined) return identity.uris[0] ?? identity.dnsNames[0] ?? identity.subject;
  return node === undefined || node.id === "" ? peer : node.id;
}

/**
 * Returns the entries of a response that its client did not have before; all entries if this is not
 * known.
 */
function updatesOf({ entries, base }: HeldByResponse): readonly Entry[] {
  const updates = entries.filter(({ revision }) => revision > base);
  return updates.length === 0 ? entries : updates;
}
