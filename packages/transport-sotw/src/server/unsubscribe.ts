import { addHash, loseTopic } from "@xdstp/protocol/server";
import { leave } from "./stay.ts";
import { coverOf, keyOf } from "./lookup.ts";
import type { SotwState, Subscription } from "./sotw-state.ts";

/** Drops what left the list: no more updates, its version is forgotten, and it goes out of what is being prepared (S-SUB-4). It needs no response (S-SUB-11). */
export function unsubscribe(state: SotwState, key: string): void {
  const subscription = state.subscriptions.get(key);
  if (subscription === undefined) return;
  const { topic, hash } = subscription;
  state.subscriptions.delete(key);
  state.nameLength -= key.length;
  if (topic.interest.parameters !== undefined)
    unlocate(state, keyOf(topic.interest.name), subscription);
  const { name } = topic.interest;
  const hasStayed = state.stay.has(keyOf(name));
  leave(state, keyOf(name));
  loseTopic(state.exchange, topic);
  topic.unwatch(state.watcher);
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.unaccepted.delete(topic);
  state.dirty.delete(topic);
  state.owed.delete(name);
  if (hasStayed && coverOf(state, name) !== undefined) state.owed.add(name); // it goes now, which a wildcard or glob has to be told
  if (state.lifetimes !== undefined) state.lifetimes.narrowed = true;
  state.sum = addHash(state.sum, -hash);
}

function unlocate(state: SotwState, key: string, subscription: Subscription): void {
  const rest = (state.located?.get(key) ?? []).filter((other) => other !== subscription);
  if (rest.length > 0) state.located?.set(key, rest);
  else state.located?.delete(key);
  if (state.located?.size === 0) state.located = undefined;
}
