import type { Entry, ResourceSource, Topic } from "@xdstp/core";
import { deliveryOf, type TypeView } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";

/** Returns former states of resources that were replaced since. */
export type FormerStates = Pick<ResourceSource, "asOf">;

/**
 * The state of a name at a client, as far as its answers show it.
 *
 * - `newest`: the present state, which may be a removal.
 * - `earlier`: a state that was replaced or removed since.
 * - `none`: nothing.
 * - `unknown`: the answers do not show it.
 */
export interface Held {
  /** The kind of the state. */
  readonly what: "newest" | "earlier" | "none" | "unknown";
  /** The state, with a resource. Absent: there is none, or the source no longer has it. */
  readonly entry?: Entry;
}

/**
 * Returns what a client has of a name whose state in a topic is `entry`. It is the one rule for
 * explanations and for client status.
 *
 * A client answers whole responses, so no state is kept of single names. When nothing of the type
 * was open last, the client had everything as of that revision. That is true until it accepts
 * something else.
 */
export function heldState(view: TypeView, topic: Topic, entry: Entry, former: FormerStates): Held {
  const { revision: settled, isNewest } = view.settled;
  const { name, since } = entry;
  if (!isNewest && isSurelyAccepted(view, topic, entry)) return stateOf(view, "newest", entry);
  if (isNewest && view.isUnaccepted(topic))
    return { what: view.mayHaveFromBefore(name) ? "unknown" : "none" };
  const asOf = (at: number): Entry | undefined =>
    entry.revision <= at ? entry : former.asOf?.(view.typeUrl, name, at);
  const before = asOf(settled);
  const waits = (waiting: Entry): boolean => asOf(Math.ceil(waiting.revision) - 1) === before;
  if (!isNewest && !isFirstWait(view, name, waits)) return { what: "unknown" };
  if (before === entry) return stateOf(view, "newest", entry);
  if (before !== undefined) return stateOf(view, "earlier", before);
  return since > settled ? { what: "none" } : { what: "earlier" };
}

/**
 * Returns true if the client has certainly accepted this state. It is not certain while a response
 * is rejected. Nor is it for a removal in full state, which waits as long as the name is
 * subscribed.
 */
function isSurelyAccepted(view: TypeView, topic: Topic, entry: Entry): boolean {
  if (view.exchange.rejected !== undefined) return false;
  if (entry.resource === undefined && view.removals === "absent") return false;
  return deliveryOf(view, topic, entry) === "accepted";
}

/**
 * Returns true if a name has waited since its first change that the client does not have. What the
 * client has accepted of other names since then does not matter.
 */
function isFirstWait(
  { heldBack, settled }: TypeView,
  name: string,
  isFirst: (waiting: Entry) => boolean,
): boolean {
  const hold = heldBack.get(nameKey(name));
  return hold !== undefined && hold.from >= settled.revision && isFirst(hold.entry);
}

/** A client that is not sent removals keeps what it had before. */
function stateOf({ removals }: TypeView, what: "newest" | "earlier", entry: Entry): Held {
  if (entry.resource !== undefined) return { what, entry };
  return { what: removals === "never" ? "unknown" : "none" };
}
