import { byName, type TypeView } from "@xdstp/protocol/server";
import type { SotwState } from "./sotw-state.ts";

/** A type for whoever reports on single names or waits for them. */
export function viewOf(state: SotwState): TypeView {
  const { typeUrl, exchange, subscriptions, type } = state;
  return {
    typeUrl,
    exchange,
    topics: [...subscriptions.values()].map(({ topic }) => topic),
    acceptedUpTo: Math.min(exchange.accepted, state.heldBackFrom),
    removals: type?.fullStateInSotw === true ? "absent" : "never",
    isPending(topic, { name, revision, resource }) {
      const { unsettled, unanswered, dirty, owed, gone, stay, kept, heldBack, taken, sent } = state;
      if (
        unsettled.has(topic) ||
        unanswered.has(topic) ||
        owed.has(name) ||
        heldBack.has(name) ||
        taken !== undefined
      )
        return true;
      if (dirty.has(topic) && revision > sent) return true;
      // While removals wait, the response holds the names that are gone; and the client holds them until it has answered one without.
      return (
        resource === undefined &&
        (gone.size + stay.size > 0 ||
          (exchange.inFlight !== undefined && byName(kept).get(name)?.resource !== undefined))
      );
    },
  };
}
