import type { Topic, Entry } from "@xdstp/core";
import type { DeltaState } from "./delta-state.ts";
import { oweKnownMembersAgain } from "./known-members.ts";
import { oweOpenErrorAgain, oweOpenError } from "./open-error.ts";
import { replaceTopic } from "@xdstp/protocol/server";
import { passAliases } from "./alias.ts";

/**
 * Answers a subscription again, since the client may have forgotten: with everything of its topic,
 * and with what was removed since the last response.
 */
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

/**
 * Answers a repeated subscription. The client may be a relay that subscribes for its own clients,
 * so a resource that may not be stored is not sent from the cache: its topic is opened at the
 * source again (B-RELAY-11).
 * A source that stores everything returns the same topic, which is answered as it is (S-DSUB-3). So
 * is a topic whose answer is still to be sent.
 */
export function answerRepeated(state: DeltaState, held: Topic): void {
  const isOnItsWay =
    state.unsettled.has(held) || state.unanswered.has(held) || state.dirty.has(held);
  const topic =
    isOnItsWay || mayBeKept(held.members())
      ? held
      : state.context.source.topic(state.typeUrl, held.interest);
  if (topic === held) answerAgain(state, held);
  else replace(state, held, topic);
}

const known = new WeakMap<readonly Entry[], boolean>();

/**
 * Returns true if all members may be stored; computed once per array, since streams share arrays.
 */
function mayBeKept(members: readonly Entry[]): boolean {
  if (members.length < 2) return members[0]?.resource?.noStore !== true;
  let found = known.get(members);
  if (found === undefined)
    known.set(members, (found = !members.some(({ resource }) => resource?.noStore === true)));
  return found;
}

/**
 * Replaces the topic of a subscription. The new one is watched first, so that the interest does not
 * end in between. Removals since the last response are still to be sent.
 */
function replace(state: DeltaState, held: Topic, topic: Topic): void {
  topic.watch(state.watcher);
  held.unwatch(state.watcher);
  replaceTopic(state, held, topic);
  passAliases(state, held, topic);
  (topic.settled ? state.unanswered : state.unsettled).set(topic, state.sent);
  if (topic.settled) return;
  oweOpenError(state, topic);
  oweKnownMembersAgain(state, topic);
}
