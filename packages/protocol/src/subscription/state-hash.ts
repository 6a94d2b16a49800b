import type { Topic } from "@xdstp/core";
import { addHash } from "../delivery/version-of.ts";
import type { SmallMap } from "./small-map.ts";

/** What the version of a stream with several topics is made of. */
export interface CountedHashes {
  /** Sum of what `of` holds, modulo 2^52. */
  sum: number;
  /** The share of each topic: its hash when something of it was taken last. */
  readonly of: Map<Topic, number>;
}

/** A type with what the version of its state is made of. */
export interface VersionedType {
  /** The subscribed topics. */
  readonly topics: SmallMap<string, Topic>;
  /** Those without a first answer. */
  readonly unsettled: { has(topic: Topic): boolean };
  /** Those whose first answer is pending. */
  readonly unanswered: { has(topic: Topic): boolean };
  /** Their hashes. undefined: there is one topic, or none. */
  counted: CountedHashes | undefined;
}

/**
 * Returns the sum of hashes of what a client has once it accepts what was taken: the same as that of SotW for the same state (S-VER-3).
 * Costs one addition for each topic that contributed.
 * @param taken - The topics that contributed
 */
export function stateHash(state: VersionedType, taken: readonly Topic[]): number {
  if (state.topics.size === 1) {
    state.counted = undefined;
    return hashOfOnly(state, taken);
  }
  const counted = (state.counted ??= countAnswered(state));
  for (const topic of taken) count(counted, topic, topic.hash);
  return counted.sum;
}

/** Most streams have one topic, and take what is new of it at each change: then no iterator is made. */
function hashOfOnly({ topics }: VersionedType, [taken]: readonly Topic[]): number {
  if (taken !== undefined) return taken.hash;
  const [only] = topics.values();
  return only?.hash ?? 0;
}

/** Takes a topic that is unsubscribed out of the version. */
export function uncount({ counted }: VersionedType, topic: Topic): void {
  if (counted === undefined) return;
  count(counted, topic, 0);
  counted.of.delete(topic);
}

function count(counted: CountedHashes, topic: Topic, hash: number): void {
  counted.sum = addHash(addHash(counted.sum, -(counted.of.get(topic) ?? 0)), hash);
  counted.of.set(topic, hash);
}

/** Once per stream, with its second topic. */
function countAnswered({ topics, unsettled, unanswered }: VersionedType): CountedHashes {
  const counted: CountedHashes = { sum: 0, of: new Map() };
  for (const topic of topics.values())
    if (!unsettled.has(topic) && !unanswered.has(topic)) count(counted, topic, topic.hash);
  return counted;
}
