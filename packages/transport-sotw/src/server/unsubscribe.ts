import { loseTopic } from "@xdstp/core/server";
import { addHash } from "./version-of.ts";
import { leave } from "./stay.ts";
import { keyOf } from "./lookup.ts";
import type { SotwState, Subscription } from "./sotw-state.ts";

/** Drops what left the list: no more updates, its version is forgotten, and it goes out of what is being prepared (S-SUB-4). It needs no response (S-SUB-11). */
export function unsubscribe(state: SotwState, key: string): void {
  const subscription = state.subscriptions.get(key);
  if (subscription === undefined) return;
  const { topic, hash } = subscription;
  state.subscriptions.delete(key);
  if (topic.interest.parameters !== undefined) unlocate(state, keyOf(topic.interest.name), subscription);
  leave(state, keyOf(topic.interest.name));
  loseTopic(state.exchange, topic);
  topic.unwatch(state.watcher);
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.dirty.delete(topic);
  state.owed.delete(topic.interest.name);
  if (state.lifetimes !== undefined) state.lifetimes.narrowed = true;
  state.sum = addHash(state.sum, -hash);
}

function unlocate(state: SotwState, key: string, subscription: Subscription): void {
  const rest = (state.located?.get(key) ?? []).filter((other) => other !== subscription);
  if (rest.length > 0) state.located?.set(key, rest);
  else state.located?.delete(key);
  if (state.located?.size === 0) state.located = undefined;
}
