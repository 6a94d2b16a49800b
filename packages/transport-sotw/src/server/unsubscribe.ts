import { coveringTopic, endSubscription } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { SotwState } from "./sotw-state.ts";
import { leave } from "./stay.ts";

/** Drops what left the list: no more updates, its version is forgotten, and it goes out of what is being prepared (S-SUB-4). It needs no response (S-SUB-11). */
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
