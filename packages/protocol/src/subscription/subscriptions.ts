import { type Entry, type Interest, interestKey, type Topic } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";
import { entryKey } from "../delivery/entries.ts";
import type { SmallMap } from "./small-map.ts";

/** The subscriptions of a type on a stream. */
export interface Subscriptions {
  /** Topics by canonical key; the key of the wildcard is `*`. Those with dynamic parameters have these in their key ({@link subscriptionKey}). */
  readonly topics: SmallMap<string, Topic>;
  /** Those with dynamic parameters, by the key of the name alone. undefined: there are none. */
  located: Map<string, readonly Topic[]> | undefined;
  /** UTF-16 units of all keys. */
  nameLength: number;
}

/** The part of the subscriptions that a look-up needs. */
export type SubscribedTopics = Pick<Subscriptions, "topics"> &
  Partial<Pick<Subscriptions, "located">>;

/** The key of a subscription. With other dynamic parameters it is another subscription, as a relay has them for its clients (TP2). Names are equal by N-40, whatever their spelling. */
export function subscriptionKey(interest: Interest): string {
  const key = nameKey(interest.name);
  return interest.parameters === undefined ? key : interestKey(interest, key);
}

/** Adds the topic of an interest. */
export function addTopic(state: Subscriptions, interest: Interest, topic: Topic): void {
  const key = subscriptionKey(interest);
  // The topic's own string where it is the same: the decoded one of the request can go.
  state.topics.set(key === interest.name ? topic.interest.name : key, topic);
  state.nameLength += key.length;
  if (interest.parameters === undefined) return;
  const located = (state.located ??= new Map<string, readonly Topic[]>());
  const name = nameKey(interest.name);
  located.set(name, [...(located.get(name) ?? []), topic]);
}

/** Puts a topic in the place of another one of the same interest. */
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

/** Returns whether a topic is that of a present subscription. */
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

/** Returns the subscription that covers a name: its own, that of its glob, the wildcard. With dynamic parameters one that is shown a variant of it, if there is one. */
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

/** Returns one entry per name, or per variant of it (S-DUP-1, S-DYN-2): the newest; of equal ones that in the spelling of the subscription (N-42). */
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
