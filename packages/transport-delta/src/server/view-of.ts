import type { Entry, Topic } from "@xdstp/core";
import { type Delivery, deliveryOf, heldBackFrom, type TypeView } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";
import { heldEntries } from "./held-removals.ts";
import { coveringTopic, keyOf } from "./lookup.ts";

/** A type for whoever reports on single names or waits for them. */
export function viewOf(state: DeltaState): TypeView {
  const { typeUrl, exchange, topics } = state;
  return {
    typeUrl,
    exchange,
    topics: [...topics.values()],
    acceptedUpTo: Math.min(exchange.accepted, heldBackFrom(state.heldBack)),
    removals: "said",
    isPending: (topic, entry) => isPending(state, topic, entry),
  };
}

function isPending(state: DeltaState, topic: Topic, { name, revision }: Entry): boolean {
  const { unsettled, unanswered, dirty, owed, heldBack, taken, sent } = state;
  if (
    unsettled.has(topic) ||
    unanswered.has(topic) ||
    owed.has(name) ||
    (heldBack.size > 0 && heldBack.has(keyOf(name)))
  )
    return true;
  if (
    taken?.gathered.origin.answered.has(topic) === true ||
    taken?.gathered.origin.named.has(name) === true
  )
    return true;
  return (
    (dirty.has(topic) && revision > sent) || heldEntries(state).some((entry) => entry.name === name)
  );
}

/** Whether a resource exists under this name, is subscribed, and the client has accepted its present state. `isSentAgain`: also where that is on its way again, with what waits for it (S-WARM-1). */
export function hasAccepted(state: DeltaState, name: string, isSentAgain = false): boolean {
  const topic = coveringTopic(state, name);
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource === undefined) return false;
  if (isSentAgain && entry.revision <= state.exchange.accepted) return true;
  return howFar(state, topic, entry) === "accepted";
}

/** Whether a resource exists under this name, is subscribed, and the client has not accepted it in any state since it came to exist. */
export function awaits(state: DeltaState, name: string): boolean {
  const topic = coveringTopic(state, name);
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource === undefined) return false;
  if (state.heldBack.has(keyOf(name))) return true;
  if (entry.since <= state.exchange.accepted && !state.unaccepted.has(topic)) return false;
  if (state.initial?.has(keyOf(name)) === true) return false;
  if (isPending(state, topic, entry)) return true;
  const far = howFar(state, topic, entry);
  return far === "in-flight" || far === "rejected";
}

function howFar(state: DeltaState, topic: Topic, entry: Entry): Delivery {
  return deliveryOf(
    {
      exchange: state.exchange,
      removals: "said" as const,
      isPending: (of, at) => isPending(state, of, at),
    },
    topic,
    entry,
  );
}
