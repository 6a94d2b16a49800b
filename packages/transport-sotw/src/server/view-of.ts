import type { Entry, Topic } from "@xdstp/core";
import {
  byName,
  type Delivery,
  deliveryOf,
  heldBackFrom,
  type TypeView,
} from "@xdstp/protocol/server";
import { isWithheld } from "./is-withheld.ts";
import { coverOf, keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** A type for whoever reports on single names or waits for them. */
export function viewOf(state: SotwState): TypeView {
  const { typeUrl, exchange, subscriptions } = state;
  return {
    typeUrl,
    exchange,
    topics: [...subscriptions.values()].map(({ topic }) => topic),
    acceptedUpTo: Math.min(exchange.accepted, heldBackFrom(state.heldBack)),
    removals: removalsOf(state),
    isPending: (topic, entry) => isPending(state, topic, entry),
  };
}

function removalsOf({ type }: SotwState): TypeView["removals"] {
  return type?.fullStateInSotw === true ? "absent" : "never";
}

function isPending(state: SotwState, topic: Topic, { name, revision, resource }: Entry): boolean {
  const { unsettled, unanswered, dirty, owed, gone, stay, kept, heldBack, taken, sent, exchange } =
    state;
  if (
    unsettled.has(topic) ||
    unanswered.has(topic) ||
    owed.has(name) ||
    (heldBack.size > 0 && heldBack.has(keyOf(name))) ||
    taken !== undefined
  )
    return true;
  if (dirty.has(topic) && revision > sent) return true;
  // While removals wait, a response has the removed names. The client has them until it answers a response without them.
  return (
    resource === undefined &&
    (gone.size + stay.size > 0 ||
      (exchange.inFlight !== undefined && byName(kept).get(name)?.resource !== undefined))
  );
}

/** Whether a resource exists under this name, is subscribed, and the client has accepted its present state. `isSentAgain`: also where that is on its way again, with what waits for it (S-WARM-1). */
export function hasAccepted(state: SotwState, name: string, isSentAgain = false): boolean {
  const topic = coverOf(state, name)?.topic;
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource === undefined) return false;
  if (isSentAgain && entry.revision <= state.exchange.accepted) return true;
  return howFar(state, topic, entry) === "accepted";
}

/** Whether a resource exists under this name, is subscribed, and the client has not accepted it in any state since it came to exist. */
export function awaits(state: SotwState, name: string): boolean {
  const topic = coverOf(state, name)?.topic;
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource === undefined) return false;
  // Until what refers to removed names is accepted, there is no full state that could be accepted.
  if (isWithheld(state)) return false;
  if (state.heldBack.has(keyOf(name))) return true;
  if (entry.since <= state.exchange.accepted && !state.unaccepted.has(topic)) return false;
  if (isPending(state, topic, entry)) return true;
  const far = howFar(state, topic, entry);
  return far === "in-flight" || far === "rejected";
}

function howFar(state: SotwState, topic: Topic, entry: Entry): Delivery {
  return deliveryOf(
    {
      exchange: state.exchange,
      removals: removalsOf(state),
      isPending: (of, at) => isPending(state, of, at),
    },
    topic,
    entry,
  );
}
