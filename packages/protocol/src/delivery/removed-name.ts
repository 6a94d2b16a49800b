import type { Topic } from "@xdstp/core";

import { byName } from "./by-name.ts";
import type { Exchange } from "./exchange.ts";

/** How far a removed name, which existed at a revision, has come: accepted, and its removal not; in the response that is in flight; or neither. */
export function removedName(
  { accepted, inFlight }: Pick<Exchange, "accepted" | "inFlight">,
  topic: Topic | undefined,
  name: string,
  at: number,
): "accepted" | "in-flight" | "never-sent" {
  const isRemovedSince = topic?.changes(accepted)?.some((entry) => entry.name === name) === true;
  if (accepted >= at && isRemovedSince) return "accepted";
  return inFlight !== undefined && byName(inFlight.entries).get(name)?.resource !== undefined
    ? "in-flight"
    : "never-sent";
}
