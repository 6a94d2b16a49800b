import type { Topic } from "@xdstp/core";
import { addHash } from "@xdstp/protocol/server";
import type { CountedHashes, DeltaState } from "./delta-state.ts";

/**
 * Returns the sum of hashes of what a client has once it accepts what was taken: the same as that of SotW for the same state (S-VER-3).
 * Costs one addition for each topic that contributed.
 * @param taken - The topics that contributed
 */
export function stateHash(state: DeltaState, taken: readonly Topic[]): number {
  if (state.topics.size === 1) {
    state.counted = undefined;
    return hashOfOnly(state, taken);
  }
  const counted = (state.counted ??= countAnswered(state));
  for (const topic of taken) count(counted, topic, topic.hash);
  return counted.sum;
}

/** Most streams have one topic, and take what is new of it at each change: then no iterator is made. */
function hashOfOnly({ topics }: DeltaState, [taken]: readonly Topic[]): number {
  if (taken !== undefined) return taken.hash;
  const [only] = topics.values();
  return only?.hash ?? 0;
}

/** Takes a topic that is unsubscribed out of the version. */
export function uncount({ counted }: DeltaState, topic: Topic): void {
  if (counted === undefined) return;
  count(counted, topic, 0);
  counted.of.delete(topic);
}

function count(counted: CountedHashes, topic: Topic, hash: number): void {
  counted.sum = addHash(addHash(counted.sum, -(counted.of.get(topic) ?? 0)), hash);
  counted.of.set(topic, hash);
}

/** Once per stream, with its second topic. */
function countAnswered({ topics, unsettled, unanswered }: DeltaState): CountedHashes {
  const counted: CountedHashes = { sum: 0, of: new Map() };
  for (const topic of topics.values())
    if (!unsettled.has(topic) && !unanswered.has(topic)) count(counted, topic, topic.hash);
  return counted;
}
