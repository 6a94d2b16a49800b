import type { Entry, Interest, Topic } from "@xdstp/core";
import { endSubscription, entryKey, partition, subscriptionKey } from "@xdstp/protocol/server";
import { isGlob, nameKey } from "@xdstp/uri";
import { forgetAlias, keysBehind } from "./alias.ts";
import { NONE_HELD, type DeltaState } from "./delta-state.ts";
import { unlist } from "./held-by-client.ts";
import { holdRemovals } from "./held-removals.ts";
import { isCollection, isCovered, goneOf, lookUp } from "./lookup.ts";

/**
 * Ends the subscription of a name. If the name itself is not subscribed, ends those of the same
 * resource by an alias or its real name (S-ALIAS-2). No response is needed, unless another
 * subscription still covers a name that the client now treats as unknown (S-DSUB-5, S-DSUB-6).
 */
export function unsubscribe(state: DeltaState, name: string): void {
  const key = nameKey(name);
  const keys = state.topics.has(key) ? [key] : keysBehind(state, name);
  for (const one of keys) drop(state, one, name);
}

/**
 * Ends the subscription of a name with these dynamic parameters; those with others, or without,
 * stay.
 */
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

/** The part of a topic that the client does not have. */
interface Undelivered {
  readonly entries: readonly Entry[];
  /** The client has what is not newer than this revision. */
  readonly since: number;
}

/** Returns the changes of a topic that were not sent, and what the client rejected of it. */
function undelivered(
  { dirty, unanswered, sent, exchange: { rejected } }: DeltaState,
  topic: Topic,
): Undelivered {
  const isRejected =
    rejected?.answered.has(topic) === true || rejected?.changed.has(topic) === true;
  // A topic that was subscribed again may have changes too.
  const asked = unanswered.get(topic) ?? NONE_HELD;
  if (!isRejected && !dirty.has(topic) && asked === NONE_HELD) return { entries: [], since: sent };
  const since = Math.min(isRejected ? rejected.base : sent, asked === NONE_HELD ? sent : asked);
  return { entries: topic.changes(since) ?? [...topic.members(), ...topic.removed()], since };
}

/** Removes a topic from everything that is being prepared (S-SUB-4). */
function forget(state: DeltaState, topic: Topic): void {
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.dirty.delete(topic);
  state.openErrors?.delete(topic);
  state.knownMembers?.delete(topic);
  state.owed.delete(topic.interest.name);
}

/**
 * Forgets the listed names that are no longer covered: the client does not have them any more
 * (S-DSUB-5), and a new subscription is answered again.
 */
function forgetListed(state: DeltaState, key: string, name: string): void {
  if (state.initial === undefined) return;
  const listed = isCollection(name) ? [...state.initial.keys()] : [key];
  for (const one of listed) if (!isCovered(state, one)) unlist(state, one);
}

/**
 * Marks changes that a collection has not sent yet to be sent, if another subscription covers them;
 * removals wait like others (S-ORD-3). The answer that the collection is empty is not needed any
 * more.
 */
function leaveCollection(state: DeltaState, { entries, since }: Undelivered): void {
  const covered = entries.filter(({ name }) => !isCollection(name) && isCovered(state, name));
  if (covered.length === 0) return;
  for (const { name } of covered) state.owed.add(name);
  const { removals } = partition(covered);
  if (removals.length > 0) holdRemovals(state, removals, since);
}

/**
 * Handles the answer to a response with these entries that has lost a subscription since: removals
 * of its names have to be sent if a subscription covers them again (S-DSUB-12).
 * Costs one pass for each such response, however often subscriptions were added and removed.
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
  for (const { name } of lost) if (!updates.has(name)) state.owed.add(name); // a pending change is sent in its order
}

/** Returns true if another variant of the name exists now. */
function isReplaced(state: DeltaState, entry: Entry): boolean {
  const key = entryKey(entry, "");
  return goneOf(state, entry.name).some((gone) => entryKey(gone, "") === key);
}

/**
 * Returns the names with pending changes. A topic that had no watchers for a while may not know
 * what was removed in that time.
 */
function updatesOf({ dirty, sent }: DeltaState): ReadonlySet<string> {
  return new Set([...dirty].flatMap((topic) => topic.changes(sent) ?? []).map(({ name }) => name));
}
