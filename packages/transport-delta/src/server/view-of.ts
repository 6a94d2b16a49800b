import type { Entry, Topic } from "@xdstp/core";
import { deliveryOf, type TypeView } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";
import { coveringTopic } from "./lookup.ts";

/** A type for whoever reports on single names or waits for them. */
export function viewOf(state: DeltaState): TypeView {
  const { typeUrl, exchange, topics } = state;
  return {
    typeUrl,
    exchange,
    topics: [...topics.values()],
    acceptedUpTo: Math.min(exchange.accepted, state.heldBackFrom),
    removals: "said",
    isPending: (topic, entry) => isPending(state, topic, entry),
  };
}

function isPending(state: DeltaState, topic: Topic, { name, revision }: Entry): boolean {
  const { unsettled, unanswered, dirty, owed, held, heldBack, taken, sent } = state;
  if (unsettled.has(topic) || unanswered.has(topic) || owed.has(name) || heldBack.has(name))
    return true;
  if (
    taken?.gathered.origin.answered.has(topic) === true ||
    taken?.gathered.origin.named.has(name) === true
  )
    return true;
  return (dirty.has(topic) && revision > sent) || held.some((entry) => entry.name === name);
}

/** Whether a resource exists under this name, is subscribed, and the client has accepted its present state. `isSentAgain`: also where that is on its way again, with what waits for it (S-WARM-1). */
export function hasAccepted(state: DeltaState, name: string, isSentAgain = false): boolean {
  const topic = coveringTopic(state, name);
  const entry = topic?.get(name);
  if (topic === undefined || entry?.resource === undefined) return false;
  const view = {
    exchange: state.exchange,
    removals: "said" as const,
    isPending: (of: Topic, at: Entry): boolean => isPending(state, of, at),
  };
  if (isSentAgain && entry.revision <= state.exchange.accepted) return true;
  return deliveryOf(view, topic, entry) === "accepted";
}
