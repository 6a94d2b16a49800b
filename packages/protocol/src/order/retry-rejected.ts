import type { Entry, ResourceType } from "@xdstp/core";
import { type Exchange, missedKey, MOST_MISSED } from "../delivery/exchange.ts";
import type { MissedReference } from "../stream/stream-event.ts";
import type { TypeHost } from "../stream/type-machine.ts";
import { referencesOf } from "./references-of.ts";

/** The greatest number of references of a rejected response that are checked. */
const MOST_LOOKED_AT = 10_000;

/**
 * Returns the references of these entries that the client has not accepted on this stream
 * (S-ACK-21), each name once, in the order of the entries.
 */
export function missedBy(
  type: ResourceType | undefined,
  host: Pick<TypeHost, "sibling">,
  entries: readonly Entry[],
): readonly MissedReference[] {
  if (type?.references === undefined) return [];
  const missed = new Map<string, MissedReference>();
  let looked = 0;
  for (const { resource } of entries) {
    if (resource === undefined) continue;
    for (const { typeUrl, name } of referencesOf(type, resource)) {
      if (++looked > MOST_LOOKED_AT || missed.size >= MOST_MISSED) return [...missed.values()];
      const sibling = host.sibling(typeUrl);
      const key = missedKey({ typeUrl, name });
      if (missed.has(key) || sibling?.hasAccepted(name, true) === true) continue;
      missed.set(key, { typeUrl, name, served: sibling?.misses(name) === false });
    }
  }
  return [...missed.values()];
}

/**
 * Offers rejected content again, unchanged, if the client has accepted a name since to which it
 * refers; once for each such name (S-ACK-21).
 */
export function retryRejected({
  exchange,
  host,
}: {
  readonly exchange: Exchange;
  readonly host: Pick<TypeHost, "sibling">;
}): void {
  const { rejected } = exchange;
  if (rejected === undefined || rejected.missed.length === 0) return;
  const missed = rejected.missed.filter(
    ({ typeUrl, name }) => host.sibling(typeUrl)?.hasAccepted(name) !== true,
  );
  if (missed.length === rejected.missed.length) return;
  const retried = rejected.missed.filter((reference) => !missed.includes(reference)).map(missedKey);
  exchange.retriedFor = new Set([...(exchange.retriedFor ?? []), ...retried].slice(-MOST_MISSED));
  exchange.rejected = { ...rejected, missed, phase: "retried" };
}
