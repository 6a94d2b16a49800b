import type { Entry, Topic } from "@xdstp/core";
import { deliveryOf, type TypeView } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";

import type { FormerStates } from "../generic-configs.ts";
import type { HeldState } from "./explanation.ts";

/**
 * Returns what a client has of a name of which a topic says `entry`. Where its answers do not tell, it is unknown.
 *
 * A client answers whole responses, so nothing is kept of single names. When nothing of the type was open last, the client had all as of that revision; that holds until it accepts something else.
 */
export function heldState(
  view: TypeView,
  topic: Topic,
  entry: Entry,
  former: FormerStates,
): HeldState {
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
  return since > settled ? { what: "none" } : { what: "earlier", ...timeOf(view) };
}

/** Whether the client has accepted this very state. While something is rejected that is not certain, nor is it for a removal in full state, which waits as long as the name is subscribed. */
function isSurelyAccepted(view: TypeView, topic: Topic, entry: Entry): boolean {
  if (view.exchange.rejected !== undefined) return false;
  if (entry.resource === undefined && view.removals === "absent") return false;
  return deliveryOf(view, topic, entry) === "accepted";
}

/** Whether a name has been held back since its first change that the client does not have: what the client has accepted of other names since does not matter then. */
function isFirstWait(
  { heldBack, settled }: TypeView,
  name: string,
  isFirst: (waiting: Entry) => boolean,
): boolean {
  const hold = heldBack.get(nameKey(name));
  return hold !== undefined && hold.from >= settled.revision && isFirst(hold.entry);
}

function stateOf(view: TypeView, what: "newest" | "earlier", { resource }: Entry): HeldState {
  if (resource === undefined) return nothing(view);
  return { what, version: resource.version, ...timeOf(view) };
}

/** A client that is not sent removals keeps what it had before. */
function nothing({ removals }: TypeView): HeldState {
  return { what: removals === "never" ? "unknown" : "none" };
}

function timeOf({ exchange: { acceptedAt } }: TypeView): Pick<HeldState, "acceptedAt"> {
  return acceptedAt === undefined ? {} : { acceptedAt };
}
