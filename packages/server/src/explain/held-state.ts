import type { Entry, Topic } from "@xdstp/core";
import { type Delivery, deliveryOf, type TypeView } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";

import type { FormerStates } from "../generic-configs.ts";
import type { HeldState } from "./explanation.ts";

/** Returns what a client has of a name of which a topic says `entry`. Where its answers do not tell, it is unknown. */
export function heldState(
  view: TypeView,
  topic: Topic,
  entry: Entry,
  former: FormerStates,
): HeldState {
  const { typeUrl, exchange, waitsAsWhole } = view;
  const { name, revision, since, resource } = entry;
  const delivery = deliveryOf(view, topic, entry);
  if (delivery === "accepted") return newest(view, entry);
  if (view.isUnaccepted(topic)) return { what: view.mayHaveFromBefore(name) ? "unknown" : "none" };
  if (isNamed(view, delivery, name)) return { what: "unknown" };
  const acceptedUpTo = acceptedBefore(view, delivery, name);
  if (revision <= acceptedUpTo) {
    if (resource === undefined) return beforeRemoval(view, entry, former);
    return delivery === "pending" && !waitsAsWhole ? { what: "unknown" } : newest(view, entry);
  }
  const before = former.asOf?.(typeUrl, name, acceptedUpTo);
  const isNone = before === undefined ? since > acceptedUpTo : before.resource === undefined;
  return isNone ? { what: "none" } : earlier(exchange, before?.resource?.version);
}

function newest({ exchange, removals }: TypeView, { resource }: Entry): HeldState {
  if (resource === undefined) return { what: removals === "never" ? "unknown" : "none" };
  const { acceptedAt } = exchange;
  return {
    what: "newest",
    version: resource.version,
    ...(acceptedAt !== undefined && { acceptedAt }),
  };
}

function earlier({ acceptedAt }: TypeView["exchange"], version: string | undefined): HeldState {
  return {
    what: "earlier",
    ...(version !== undefined && { version }),
    ...(acceptedAt !== undefined && { acceptedAt }),
  };
}

/** A name that was sent by itself, and not as a change of its topic, may be older than what the client had accepted before. */
function isNamed({ exchange }: TypeView, delivery: Delivery, name: string): boolean {
  const { inFlight, rejected } = exchange;
  if (delivery === "in-flight") return inFlight?.origin.named.has(name) === true;
  return delivery === "rejected" && rejected?.named.has(name) === true;
}

/** Returns the revision up to which the client had accepted this name before what was sent last. */
function acceptedBefore(
  { exchange: { accepted, inFlight, rejected }, heldBack }: TypeView,
  delivery: Delivery,
  name: string,
): number {
  const { base = Infinity } = (delivery === "in-flight" ? inFlight : rejected) ?? {};
  const from = heldBack.get(nameKey(name))?.from ?? Infinity;
  return Math.min(accepted, from, delivery === "pending" ? Infinity : base);
}

/** What a client has of a name whose removal waits (S-ORD-3): the state before it. The version is known where the name did not change while the removal waited. */
function beforeRemoval(
  { typeUrl, heldBase, exchange }: TypeView,
  { name, revision }: Entry,
  former: FormerStates,
): HeldState {
  const [first, last] = [heldBase, Math.ceil(revision) - 1].map(
    (at) => former.asOf?.(typeUrl, name, at)?.resource?.version,
  );
  return earlier(exchange, first === last ? first : undefined);
}
