import type { Topic } from "@xdstp/core";
import { addHash } from "../delivery/version-of.ts";
import type { SmallMap } from "./small-map.ts";

/** The hashes that make up the version of a stream with several topics. */
export interface CountedHashes {
  /** The sum of the hashes in `of`, modulo 2^52. */
  sum: number;
  /** The share of each topic: its hash when it was last taken. */
  readonly of: Map<Topic, number>;
}

/** One type, with what its version depends on. */
export interface VersionedType {
  /** The subscribed topics. */
  readonly topics: SmallMap<string, Topic>;
  /** Topics that have no first answer and are not settled. */
  readonly unsettled: { has(topic: Topic): boolean };
  /** Topics that have no first answer and are settled. */
  readonly unanswered: { has(topic: Topic): boolean };
  /** The hashes of its topics. undefined: it has one topic, or none. */
  counted: CountedHashes | undefined;
}

/**
 * Returns the sum of the hashes of everything that a client has once it accepts what was taken:
 * equal to that of SotW for the same state (S-VER-3).
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

/**
 * Returns the hash of the only topic. Most streams have one topic, so this path creates no iterator
 * for a change.
 */
function hashOfOnly({ topics }: VersionedType, [taken]: readonly Topic[]): number {
  if (taken !== undefined) return taken.hash;
  const [only] = topics.values();
  return only?.hash ?? 0;
}

/** Removes the share of a topic that is unsubscribed from the version. */
export function uncount({ counted }: VersionedType, topic: Topic): void {
  if (counted === undefined) return;
  count(counted, topic, 0);
  counted.of.delete(topic);
}

function count(counted: CountedHashes, topic: Topic, hash: number): void {
  counted.sum = addHash(addHash(counted.sum, -(counted.of.get(topic) ?? 0)), hash);
  counted.of.set(topic, hash);
}

/** Counts all topics with a first answer; done once per stream, with its second topic. */
function countAnswered({ topics, unsettled, unanswered }: VersionedType): CountedHashes {
  const counted: CountedHashes = { sum: 0, of: new Map() };
  for (const topic of topics.values())
    if (!unsettled.has(topic) && !unanswered.has(topic)) count(counted, topic, topic.hash);
  return counted;
}
