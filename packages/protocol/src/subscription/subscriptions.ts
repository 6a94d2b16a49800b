import { type Entry, type Interest, interestKey, type Topic } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";
import { entryKey } from "../delivery/entries.ts";
import type { SmallMap } from "./small-map.ts";

/** The subscriptions of a type on a stream. */
export interface Subscriptions {
  /**
   * Topics by canonical key; the key of the wildcard is `*`. The key of a topic with dynamic
   * parameters includes them ({@link subscriptionKey}).
   */
  readonly topics: SmallMap<string, Topic>;
  /** Topics with dynamic parameters, by the key of the name alone. undefined: there are none. */
  located: Map<string, readonly Topic[]> | undefined;
  /** The total length of all keys in UTF-16 units. */
  nameLength: number;
}

/** The part of the subscriptions that a look-up needs. */
export type SubscribedTopics = Pick<Subscriptions, "topics"> &
  Partial<Pick<Subscriptions, "located">>;

/**
 * Returns the key of a subscription. The same name with other dynamic parameters is another
 * subscription, as a relay has for its clients (TP2). Names that are equal by N-40 have the same
 * key, whatever their spelling.
 */
export function subscriptionKey(interest: Interest): string {
  const key = nameKey(interest.name);
  return interest.parameters === undefined ? key : interestKey(interest, key);
}

/** Adds the topic of an interest. */
export function addTopic(state: Subscriptions, interest: Interest, topic: Topic): void {
  const key = subscriptionKey(interest);
  // The string of the topic is used if it is equal, so that the decoded string of the request can
  // be freed.
  state.topics.set(key === interest.name ? topic.interest.name : key, topic);
  state.nameLength += key.length;
  if (interest.parameters === undefined) return;
  const located = (state.located ??= new Map<string, readonly Topic[]>());
  const name = nameKey(interest.name);
  located.set(name, [...(located.get(name) ?? []), topic]);
}

/** Replaces a topic by another one of the same interest. */
export function replaceTopic(state: Subscriptions, from: Topic, to: Topic): void {
  const name = nameKey(from.interest.name);
  state.topics.set(subscriptionKey(from.interest), to);
  const others = state.located?.get(name);
  if (others !== undefined)
    state.located?.set(
      name,
      others.map((other) => (other === from ? to : other)),
    );
}

/** Removes the topic of a key. */
export function removeTopic(state: Subscriptions, key: string): void {
  const topic = state.topics.get(key);
  if (topic === undefined) return;
  state.topics.delete(key);
  state.nameLength -= key.length;
  if (state.located === undefined) return;
  const name = nameKey(topic.interest.name);
  const rest = (state.located.get(name) ?? []).filter((other) => other !== topic);
  if (rest.length > 0) state.located.set(name, rest);
  else state.located.delete(name);
  if (state.located.size === 0) state.located = undefined;
}

/** Returns true if a topic belongs to a present subscription. */
export function isSubscribed({ topics }: SubscribedTopics, topic: Topic): boolean {
  return topics.get(subscriptionKey(topic.interest)) === topic;
}

const NONE: readonly Topic[] = [];

/** Returns the subscriptions of a name, a glob or the wildcard, without and with dynamic parameters. */
export function topicsOf({ topics, located }: SubscribedTopics, key: string): readonly Topic[] {
  const plain = topics.get(key);
  const others = located?.get(key) ?? NONE;
  return plain === undefined ? others : [plain, ...others];
}

/** Returns all subscriptions that cover a name: its own, those of its glob, the wildcard. */
export function coveringTopics(state: SubscribedTopics, name: string): readonly Topic[] {
  const glob = globOf(name);
  return [
    ...topicsOf(state, nameKey(name)),
    ...(glob === undefined ? [] : topicsOf(state, glob)),
    ...topicsOf(state, "*"),
  ];
}

/**
 * Returns a subscription that covers a name: its own, that of its glob, or the wildcard. If there
 * are subscriptions with dynamic parameters, one whose topic has a variant of the name is
 * preferred.
 */
export function coveringTopic(state: SubscribedTopics, name: string): Topic | undefined {
  const { topics, located } = state;
  if (located !== undefined) {
    const covers = coveringTopics(state, name);
    return covers.find((topic) => topic.get(name) !== undefined) ?? covers[0];
  }
  const glob = globOf(name);
  return (
    topics.get(nameKey(name)) ??
    (glob === undefined ? undefined : topics.get(glob)) ??
    topics.get("*")
  );
}

/**
 * Returns one entry per name, or per variant of it (S-DUP-1, S-DYN-2): the newest. Of two entries
 * of the same revision, the one in the spelling of the subscription is returned (N-42).
 */
export function mergeEntries(
  state: SubscribedTopics,
  parts: readonly (readonly Entry[])[],
): readonly Entry[] {
  const merged = new Map<string, Entry>();
  for (const entry of parts.flat()) {
    const key = nameKey(entry.name);
    const id = entryKey(entry, key);
    const known = merged.get(id);
    if (known === undefined || isBetter(state, key, entry, known)) merged.set(id, entry);
  }
  return [...merged.values()];
}

function isBetter(state: SubscribedTopics, key: string, entry: Entry, known: Entry): boolean {
  if (entry.revision !== known.revision) return entry.revision > known.revision;
  return topicsOf(state, key).some(({ interest }) => interest.name === entry.name);
}
