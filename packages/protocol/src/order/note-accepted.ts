import type { Topic } from "@xdstp/core";

import type { Exchange } from "../delivery/exchange.ts";
import type { Origin } from "../delivery/origin.ts";
import type { SmallSet } from "../subscription/small-set.ts";
import type { Holds } from "./hold.ts";

/** One type on one stream. */
export interface AcceptingOwner {
  /** The requests and responses of the type. */
  readonly exchange: Exchange;
  /** Revision of the source up to which the type has been read. */
  readonly sent: number;
  /** The names that wait. */
  readonly heldBack: Holds;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: SmallSet<Topic>;
  /** Topics that have no first answer and are not settled. */
  readonly unsettled: { has(topic: Topic): boolean };
  /** Topics that have no first answer and are settled. */
  readonly unanswered: { has(topic: Topic): boolean };
  /** The response that waits as a whole. undefined: none does. */
  readonly taken: { readonly gathered: { readonly origin: Origin } } | undefined;
}

/**
 * Notes that the client has accepted everything that it was sent. Topics that were not sent yet
 * stay unaccepted.
 */
export function noteAccepted({
  unaccepted,
  unsettled,
  unanswered,
  taken,
}: Omit<AcceptingOwner, "exchange" | "sent" | "heldBack">): void {
  for (const topic of unaccepted)
    if (
      !unsettled.has(topic) &&
      !unanswered.has(topic) &&
      taken?.gathered.origin.answered.has(topic) !== true
    )
      unaccepted.delete(topic);
}

/**
 * Notes that nothing had to be sent: the client has everything already, unless names wait or a
 * response is unanswered or rejected.
 */
export function noteNothingSent(owner: AcceptingOwner): void {
  const { exchange, heldBack, sent } = owner;
  if (exchange.inFlight !== undefined || exchange.rejected !== undefined || heldBack.size > 0)
    return;
  exchange.accepted = sent;
  noteAccepted(owner);
}
