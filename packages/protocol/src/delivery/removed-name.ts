import type { Entry, Topic } from "@xdstp/core";

import { byName } from "./entries.ts";
import type { Exchange } from "./exchange.ts";

/**
 * How far a name has come that does not exist now. `accepted`: the client has accepted it, and not its removal. `in-flight`: it is in the response that is unanswered.
 * `never-sent`: neither, or it is not known. `not-since`: it did not exist at that revision either.
 */
export type RemovedName = "accepted" | "in-flight" | "never-sent" | "not-since";

/** A type on one stream, with its topics that the client has not accepted yet. */
export interface RemovedOwner {
  /** The requests and responses of the type. */
  readonly exchange: Pick<Exchange, "accepted" | "inFlight">;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: { has(topic: Topic): boolean };
}

/** Says how far a name has come that does not exist now, and may have existed at a revision. */
export function removedName(
  { exchange, unaccepted }: RemovedOwner,
  topic: Topic | undefined,
  name: string,
  at: number,
): RemovedName {
  const { inFlight } = exchange;
  const accepted = topic !== undefined && unaccepted.has(topic) ? 0 : exchange.accepted;
  const changes = topic?.changes(Math.min(at, accepted));
  const removal = changes && byName(changes).get(name);
  if (changes !== undefined && (removal === undefined || removal.revision <= at))
    return "not-since";
  if (removal !== undefined && isHeld(removal, accepted)) return "accepted";
  return inFlight !== undefined && byName(inFlight.entries).get(name)?.resource !== undefined
    ? "in-flight"
    : "never-sent";
}

/** A client that has accepted this revision had the name then. */
function isHeld({ since, revision }: Entry, accepted: number): boolean {
  return since > 0 && since <= accepted && revision > accepted;
}
