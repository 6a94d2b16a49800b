import type { Entry, Topic } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import type { DeltaState } from "./delta-state.ts";
import { isCollection } from "./lookup.ts";

/**
 * Owes the members that are known of a collection that is incomplete while its supply is broken: a client does with them what it can, and delta concludes nothing from what is not sent (B-RELAY-9).
 * Called again, it owes what has changed since. Nothing is concluded of the collection itself: that it is empty is not sent.
 */
export function oweKnownMembers(state: DeltaState, topic: Topic): void {
  if (topic.stale === undefined || !isCollection(topic.interest.name)) return;
  const since = state.knownMembers?.get(topic);
  const entries = (since === undefined ? undefined : topic.changes(since)) ?? topic.members();
  if (since === undefined && entries.length === 0) return;
  (state.knownMembers ??= new Map()).set(topic, state.context.source.revision);
  for (const entry of entries) if (!isListed(state, entry)) state.owed.add(entry.name);
}

/** The same, also where the client was sent them before. */
export function oweKnownMembersAgain(state: DeltaState, topic: Topic): void {
  state.knownMembers?.delete(topic);
  oweKnownMembers(state, topic);
}

/**
 * The collection is complete now.
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

/** The client listed it in that very version (S-RECON-4). What it holds for a time only is sent, which begins that time again. */
function isListed({ initial }: DeltaState, { name, resource }: Entry): boolean {
  return (
    resource !== undefined &&
    resource.ttlMs === undefined &&
    initial?.get(nameKey(name))?.version === resource.version
  );
}
