import { loseTopic } from "@xdstp/core/server";
import { addHash } from "./version-of.ts";
import { leave } from "./stay.ts";
import type { SotwState } from "./sotw-state.ts";

/** Drops what left the list: no more updates, its version is forgotten, and it goes out of what is being prepared (S-SUB-4). It needs no response (S-SUB-11). */
export function unsubscribe(state: SotwState, key: string): void {
  const subscription = state.subscriptions.get(key);
  if (subscription === undefined) return;
  const { topic, hash } = subscription;
  state.subscriptions.delete(key);
  leave(state, key);
  loseTopic(state.exchange, topic);
  topic.unwatch(state.watcher);
  state.unsettled.delete(topic);
  state.unanswered.delete(topic);
  state.dirty.delete(topic);
  state.owed.delete(topic.interest.name);
  if (state.lifetimes !== undefined) state.lifetimes.narrowed = true;
  state.sum = addHash(state.sum, -hash);
}
