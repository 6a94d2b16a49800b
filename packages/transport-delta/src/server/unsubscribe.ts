import type { Entry, Interest, Topic } from "@xdstp/core";
import { endSubscription, entryKey, partition, subscriptionKey } from "@xdstp/protocol/server";
import { isGlob, nameKey } from "@xdstp/uri";
import { forgetAlias, keysBehind } from "./alias.ts";
import { NONE_HELD, type DeltaState } from "./delta-state.ts";
import { unlist } from "./held-by-client.ts";
import { holdRemovals } from "./held-removals.ts";
import { isCollection, isCovered, goneOf, lookUp } from "./lookup.ts";

/** Drops a name, or what was subscribed by an alias of it or is an alias of it (S-ALIAS-2). It needs no response, unless another subscription still covers what the client now treats as unknown (S-DSUB-5, S-DSUB-6). */
export function unsubscribe(state: DeltaState, name: string): void {
  const key = nameKey(name);
  const keys = state.topics.has(key) ? [key] : keysBehind(state, name);
  for (const one of keys) drop(state, one, name);
}

/** Drops a name with these dynamic parameters; with others, or without, it stays. */
export function unlocate(state: DeltaState, interest: Interest): void {
  drop(state, subscriptionKey(interest), interest.name);
}

function drop(state: DeltaState, key: string, name: string): void {
  const topic = endSubscription(state, key);
  if (topic === undefined) return;
  forgetAlias(state, topic);
  if (isGlob(topic.interest.name)) state.globs--;
  const unsent = undelivered(state, topic);
  forget(state, topic);
  forgetListed(state, key, name);
  if (isCollection(name)) leaveCollection(state, unsent);
  else if (isCovered(state, name)) state.owed.add(name);
}

/** What of a topic the client does not have. */
interface Undelivered {
  readonly entries: readonly Entry[];
  /** It has what came before this revision. */
  readonly since: number;
}

/** Changes of a topic, and what the client rejected of it. */
function undelivered(
  { dirty, unanswered, sent, exchange: { rejected } }: DeltaState,
  topic: Topic,
): Undelivered {
  const isRejected =
    rejected?.answered.has(topic) === true || rejected?.changed.has(topic) === true;
  // Subscribed again, it has changes nevertheless.
  const asked = unanswered.get(topic) ?? NONE_HELD;
  if (!isRejected && !dirty.has(topic) && asked === NONE_HELD) return { entries: [], since: sent };
  const since = Math.min(isRejected ? rejected.base : sent, asked === NONE_HELD ? sent : asked);
  return { entries: topic.changes(since) ?? [...topic.members(), ...topic.removed()], since };
}

/** Takes a topic out of all that is being prepared (S-SUB-4). */
function forget(state: DeltaState, topic: Topic): void {
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.dirty.delete(topic);
  state.openErrors?.delete(topic);
  state.knownMembers?.delete(topic);
  state.owed.delete(topic.interest.name);
}

/** The client does not have any more what it listed (S-DSUB-5): a new subscription is answered again. */
function forgetListed(state: DeltaState, key: string, name: string): void {
  if (state.initial === undefined) return;
  const listed = isCollection(name) ? [...state.initial.keys()] : [key];
  for (const one of listed) if (!isCovered(state, one)) unlist(state, one);
}

/** Changes that this collection has not sent yet are owed where another subscription covers them; removals wait like others (S-ORD-3). An answer that it was empty is not needed any more. */
function leaveCollection(state: DeltaState, { entries, since }: Undelivered): void {
  const covered = entries.filter(({ name }) => !isCollection(name) && isCovered(state, name));
  if (covered.length === 0) return;
  for (const { name } of covered) state.owed.add(name);
  const { removals } = partition(covered);
  if (removals.length > 0) holdRemovals(state, removals, since);
}

/**
 * A response of these entries is settled that has lost a subscription meanwhile: removals of what it carried and what is covered again have to be sent (S-DSUB-12).
 * One pass for each such response, however often subscriptions came and went.
 */
export function oweLost(state: DeltaState, entries: readonly Entry[]): void {
  const lost = entries.filter(
    (entry) =>
      entry.resource !== undefined &&
      isCovered(state, entry.name) &&
      (lookUp(state, entry.name)?.resource === undefined || isReplaced(state, entry)),
  );
  if (lost.length === 0) return;
  const updates = updatesOf(state);
  for (const { name } of lost) if (!updates.has(name)) state.owed.add(name); // else it goes in its order
}

/** Another variant of the name is there now. */
function isReplaced(state: DeltaState, entry: Entry): boolean {
  const key = entryKey(entry, "");
  return goneOf(state, entry.name).some((gone) => entryKey(gone, "") === key);
}

/** A topic without watchers for a while may not know what was removed meanwhile. */
function updatesOf({ dirty, sent }: DeltaState): ReadonlySet<string> {
  return new Set([...dirty].flatMap((topic) => topic.changes(sent) ?? []).map(({ name }) => name));
}
