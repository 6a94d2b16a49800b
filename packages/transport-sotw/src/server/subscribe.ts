import { type Interest, StatusCode, type Topic } from "@xdstp/core";
import {
  excessOfNames,
  type StreamLimits,
  beginSubscription,
  subscriptionKey,
  coveringTopic,
  endSubscription,
} from "@xdstp/protocol/server";
import { isGlob, nameKey } from "@xdstp/uri";
import type { SotwRequest } from "./decode-request.ts";
import type { SotwState } from "./sotw-state.ts";
import { leave } from "./stay.ts";

/** The subscriptions of a request: names, and names with dynamic parameters. */
type WantedSet = Pick<SotwRequest, "names" | "located">;

/**
 * Makes a list the set of subscriptions (S-SUB-1). A name that is new in it is sent, even if it was
 * sent before (S-SUB-3). `ended` has the topics that the same request has ended already.
 */
export function subscribe(
  state: SotwState,
  list: WantedSet,
  ended: readonly (readonly [key: string, topic: Topic])[],
): void {
  const names = wantedNames(state, list);
  const located = wantedLocators(state, list);
  const excess = excessOf(state, names, located);
  if (excess !== undefined) {
    state.host.end(StatusCode.RESOURCE_EXHAUSTED, ...excess);
    return;
  }
  const wanted = byKey(names, located);
  const added = [...wanted].filter(([key]) => !state.topics.has(key));
  const dropped = dropOthers(state, wanted);
  for (const [, interest] of added) begin(state, interest);
  report(
    state,
    added.map(([, { name }]) => name),
    [...dropped, ...namesOf(ended.filter(([key]) => !wanted.has(key)))],
  );
}

/**
 * Drops the names that are not in the list of a request that crossed a response. Names that the
 * list adds come again with the ACK that must follow; a name that was dropped here is then new
 * (S-NONCE-6).
 */
export function narrow(state: SotwState, list: WantedSet): void {
  const dropped = dropOthers(state, byKey(wantedNames(state, list), wantedLocators(state, list)));
  state.listHash = undefined;
  state.wantedHash = undefined;
  report(state, [], dropped);
}

function dropOthers(state: SotwState, wanted: ReadonlyMap<string, Interest>): readonly string[] {
  const dropped = [...state.topics].filter(([key]) => !wanted.has(key));
  for (const [key] of dropped) unsubscribe(state, key);
  return namesOf(dropped);
}

function namesOf(topics: readonly (readonly [key: string, topic: Topic])[]): readonly string[] {
  return topics.map(([key, { interest }]) =>
    interest.parameters === undefined ? key : interest.name,
  );
}

/**
 * Returns the interests by key. If a name occurs in several spellings, the first counts (N-42,
 * S-SUB-7).
 */
function byKey(
  names: readonly string[],
  located: readonly Interest[],
): ReadonlyMap<string, Interest> {
  const wanted = new Map<string, Interest>();
  for (const name of names) if (!wanted.has(nameKey(name))) wanted.set(nameKey(name), { name });
  for (const interest of located)
    if (!wanted.has(subscriptionKey(interest))) wanted.set(subscriptionKey(interest), interest);
  return wanted;
}

/**
 * Returns the names that a list means. An empty list means `*` as long as all lists were empty, for
 * types and clients that use it so (S-WILD-2, S-WILD-6).
 */
function wantedNames(state: SotwState, { names: list, located }: WantedSet): readonly string[] {
  if (list.length + located.length > 0) {
    state.legacy = false;
    return takesGlobs(state) ? list : list.filter((name) => !isGlob(name));
  }
  return state.legacy && state.quirks.legacyWildcard && (state.type?.legacyWildcard ?? true)
    ? ["*"]
    : [];
}

function wantedLocators(state: SotwState, { located }: WantedSet): readonly Interest[] {
  return takesGlobs(state) ? located : located.filter(({ name }) => !isGlob(name));
}

/**
 * Returns true if globs of the type can be subscribed. For a type without full state no response
 * could report removed members (C-GLOB-10). A type that is not served has no members, and is
 * answered once (S-STREAM-8).
 */
function takesGlobs({ type, context: { source }, typeUrl }: SotwState): boolean {
  return type?.fullStateInSotw === true || !source.serves(typeUrl);
}

function excessOf(
  { context: { limits } }: SotwState,
  names: readonly string[],
  located: readonly Interest[],
): readonly [message: string, limit: keyof StreamLimits] | undefined {
  const count = names.length + located.length;
  if (count > limits.subscriptions)
    return [`more than ${limits.subscriptions} subscriptions of one type`, "subscriptions"];
  const excess = excessOfNames(names, located, limits);
  if (excess !== undefined || count <= limits.globs) return excess;
  const globs = [...names, ...located.map(({ name }) => name)].filter((name) => isGlob(name));
  return globs.length > limits.globs
    ? [`more than ${limits.globs} globs of one type`, "globs"]
    : undefined;
}

function begin(state: SotwState, interest: Interest): void {
  const topic = beginSubscription(state, interest);
  state.unsaid = undefined; // a new subscription is answered
  (topic.settled ? state.unanswered : state.unsettled).add(topic);
}

function report(
  { context, stream, typeUrl }: SotwState,
  added: readonly string[],
  dropped: readonly string[],
): void {
  if (added.length > 0 || dropped.length > 0)
    context.emit?.({ kind: "subscribe", stream, typeUrl, added, dropped });
}

/**
 * Ends a subscription that has left the list: no more updates, its version is removed, and it is
 * taken out of what is being prepared (S-SUB-4). It needs no response (S-SUB-11).
 */
export function unsubscribe(state: SotwState, key: string): void {
  const topic = endSubscription(state, key);
  if (topic === undefined) return;
  const { name } = topic.interest;
  const hasStayed = state.stay.has(nameKey(name));
  leave(state, nameKey(name));
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.dirty.delete(topic);
  state.owed.delete(name);
  const cover = hasStayed ? coveringTopic(state, name) : undefined;
  if (cover !== undefined) state.dirty.add(cover); // it goes now, and a wildcard or glob has to show that
}
