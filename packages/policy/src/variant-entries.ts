import type { Entry } from "@xdstp/core";
import { absence } from "./own-entry.ts";
import type { VisibleLog } from "./visible-log.ts";

/** A variant was removed (S-DYN-5): its place is free for the next one. A reader that was not shown it is not notified, unless `mayHold` says that a reader may have it nevertheless. */
export function noteGone(
  log: VisibleLog,
  { name, revision, error, constraints }: Entry,
  mayHold: () => boolean,
): void {
  const isShown = constraints !== undefined && isVariant(log.newest(name), constraints);
  if (isShown) log.forget(name);
  if (isShown || mayHold()) log.add(absence(name, revision, error, constraints));
}

/** Something newer of a name; in the place of another variant it takes that away. */
export function showAnew(log: VisibleLog, held: Entry, entry: Entry): void {
  const constraints = held.resource?.constraints;
  if (constraints !== undefined && !isVariant(entry, constraints))
    log.add(absence(held.name, entry.revision, undefined, constraints));
  log.add(entry);
}

/** A variant may not be seen any more. false: it is none. */
export function hideVariant(log: VisibleLog, { name, resource }: Entry, revision: number): boolean {
  if (resource?.constraints === undefined) return false;
  log.forget(name);
  log.add(absence(name, revision, undefined, resource.constraints));
  return true;
}

function isVariant(entry: Entry | undefined, constraints: Uint8Array): boolean {
  const own = entry?.resource?.constraints;
  return own !== undefined && Buffer.compare(own, constraints) === 0;
}
