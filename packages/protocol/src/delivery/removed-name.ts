import type { Entry, Topic } from "@xdstp/core";

import { byName } from "./entries.ts";
import type { Exchange } from "./exchange.ts";

/**
 * The state at the client of a name that does not exist now. `accepted`: the client has accepted
 * the resource, and not its removal. `in-flight`: the resource is in the unanswered response.
 * `never-sent`: neither, or it is not known. `not-since`: the name did not exist at that revision
 * either.
 */
export type RemovedName = "accepted" | "in-flight" | "never-sent" | "not-since";

/** One type on one stream. */
export interface RemovedOwner {
  /** The requests and responses of the type. */
  readonly exchange: Pick<Exchange, "accepted" | "inFlight">;
  /** Topics of which the client has accepted nothing yet. */
  readonly unaccepted: { has(topic: Topic): boolean };
}

/**
 * Returns what the client knows of a name that does not exist now, and that may have existed at the
 * revision `at`.
 */
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

/** Returns true if a client that has accepted this revision had the resource at that time. */
function isHeld({ since, revision }: Entry, accepted: number): boolean {
  return since > 0 && since <= accepted && revision > accepted;
}
