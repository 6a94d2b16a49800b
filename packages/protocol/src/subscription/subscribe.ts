import type { Interest, Topic } from "@xdstp/core";
import { loseTopic } from "../delivery/exchange.ts";
import type { ServedType } from "../stream/server-variant.ts";
import { uncount } from "./state-hash.ts";
import { addTopic, removeTopic } from "./subscriptions.ts";

/** Begins a subscription: watches its topic, of which the client has accepted nothing yet. */
export function beginSubscription(state: ServedType, interest: Interest): Topic {
  const topic = state.context.source.topic(state.typeUrl, interest);
  topic.watch(state.watcher);
  addTopic(state, interest, topic);
  state.unaccepted.add(topic);
  return topic;
}

/**
 * Ends a subscription: its topic is not watched any more, and its share of the version is removed
 * (S-SUB-4). The caller handles pending changes of the topic.
 * @param key - The key of the subscription
 * @returns The topic, or `undefined` if the subscription does not exist
 */
export function endSubscription(state: ServedType, key: string): Topic | undefined {
  const topic = state.topics.get(key);
  if (topic === undefined) return undefined;
  removeTopic(state, key);
  uncount(state, topic);
  topic.unwatch(state.watcher);
  state.unaccepted.delete(topic);
  if (state.lifetimes !== undefined) state.lifetimes.narrowed = true;
  loseTopic(state.exchange, topic);
  return topic;
}
