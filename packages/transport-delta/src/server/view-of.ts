import type { TypeView } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";

/** A type for whoever reports on single names or waits for them. */
export function viewOf(state: DeltaState): TypeView {
  const { typeUrl, exchange, topics } = state;
  return {
    typeUrl,
    exchange,
    topics: [...topics.values()],
    acceptedUpTo: Math.min(exchange.accepted, state.heldBackFrom),
    removals: "said",
    isPending(topic, { name, revision }) {
      const { unsettled, unanswered, dirty, owed, held, heldBack, taken, sent } = state;
      if (unsettled.has(topic) || unanswered.has(topic) || owed.has(name) || heldBack.has(name))
        return true;
      if (
        taken?.gathered.origin.answered.has(topic) === true ||
        taken?.gathered.origin.named.has(name) === true
      )
        return true;
      return (dirty.has(topic) && revision > sent) || held.some((entry) => entry.name === name);
    },
  };
}
