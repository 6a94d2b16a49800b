import type { Entry, Topic } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";
import { isCollection } from "./lookup.ts";

/**
 * Marks the known members of an incomplete collection to be sent while its supply is broken. The
 * client can use them, since delta concludes nothing from names that are not sent (B-RELAY-9).
 * A further call marks what has changed since. Nothing is sent about the collection itself, for
 * instance that it is empty.
 */
export function oweKnownMembers(state: DeltaState, topic: Topic): void {
  if (topic.stale === undefined || !isCollection(topic.interest.name)) return;
  const since = state.knownMembers?.get(topic);
  const entries = (since === undefined ? undefined : topic.changes(since)) ?? topic.members();
  if (since === undefined && entries.length === 0) return;
  (state.knownMembers ??= new Map()).set(topic, state.context.source.revision);
  for (const entry of entries) if (!isListed(state, entry)) state.owed.add(entry.name);
}

/** As {@link oweKnownMembers}, including members that the client was sent before. */
export function oweKnownMembersAgain(state: DeltaState, topic: Topic): void {
  state.knownMembers?.delete(topic);
  oweKnownMembers(state, topic);
}

/**
 * Notes that the collection is complete now.
 * @returns true if its members were sent before: only what has changed since is sent
 */
export function endKnownMembers(state: DeltaState, topic: Topic): boolean {
  const since = state.knownMembers?.get(topic);
  if (since === undefined) return false;
  state.knownMembers?.delete(topic);
  for (const { name } of topic.changes(since) ?? topic.members())
    if (!isCollection(name)) state.owed.add(name);
  return true;
}

/**
 * Returns true if the client listed an entry in exactly that version (S-RECON-4). An entry with a
 * TTL is sent nevertheless, so that its time starts again.
 */
function isListed({ initial }: DeltaState, { name, resource }: Entry): boolean {
  return (
    resource !== undefined &&
    resource.ttlMs === undefined &&
    initial?.get(nameKey(name))?.version === resource.version
  );
}
