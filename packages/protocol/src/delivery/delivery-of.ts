import type { Entry, Topic } from "@xdstp/core";
import { byName } from "./entries.ts";
import type { Batch } from "./batch.ts";
import type { Rejected } from "./exchange.ts";
import type { TypeView } from "./type-view.ts";

/**
 * The progress of an entry on its way to one client: not sent yet, sent and unanswered, rejected,
 * or accepted.
 */
export type Delivery = "pending" | "in-flight" | "rejected" | "accepted";

/**
 * Returns the progress of an entry of a subscribed topic (S-CSDS-4). A client answers a response as
 * a whole, so all its entries are rejected together.
 */
export function deliveryOf(
  view: Pick<TypeView, "exchange" | "removals" | "isPending">,
  topic: Topic,
  entry: Entry,
): Delivery {
  const { inFlight, rejected, accepted } = view.exchange;
  if (view.isPending(topic, entry)) return "pending";
  if (inFlight !== undefined && carries(inFlight, view.removals, topic, entry)) return "in-flight";
  if (rejected !== undefined) return holds(rejected, topic, entry) ? "rejected" : "accepted";
  return entry.revision > accepted ? "pending" : "accepted";
}

/**
 * Returns true if a response brings a client this state of a name, or a newer one. A full state
 * brings a removal by not having the name.
 */
export function carries(
  { entries, origin, base, upTo }: Batch,
  removals: TypeView["removals"],
  topic: Topic,
  { name, revision, resource }: Entry,
): boolean {
  const sent = byName(entries).get(name);
  if (sent !== undefined) return sent.revision >= revision;
  if (removals !== "absent" || resource !== undefined) return false;
  return (
    revision > base && revision <= upTo && (origin.answered.has(topic) || origin.changed.has(topic))
  );
}

function holds(
  { answered, changed, named, base }: Rejected,
  topic: Topic,
  { name, revision }: Entry,
): boolean {
  return answered.has(topic) || named.has(name) || (changed.has(topic) && revision > base);
}
