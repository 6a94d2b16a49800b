import type { Topic } from "@xdstp/core";
import type { DeltaState } from "./delta-state.ts";
import { oweKnownMembersAgain } from "./known-members.ts";
import { oweOpenErrorAgain } from "./open-error.ts";

/** The client may have forgotten: all of a topic again, and what was removed since the last response. */
export function answerAgain(state: DeltaState, topic: Topic): void {
  if (state.unsettled.has(topic)) {
    oweOpenErrorAgain(state, topic);
    oweKnownMembersAgain(state, topic);
    return;
  }
  if (state.unanswered.has(topic)) return;
  state.dirty.delete(topic);
  state.unanswered.set(topic, state.sent);
}
