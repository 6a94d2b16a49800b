import { giveBack } from "@xdstp/protocol/server";
import type { BeforeTaken, DeltaState, Taken } from "./delta-state.ts";
import { gather } from "./gather.ts";
import { holdingAfter } from "./heartbeat.ts";

/** Takes what is pending out of the topics, to be sent later as it is now. undefined: the history that the client would need is not kept any more. */
export function take(state: DeltaState, removeUpTo: number): Taken | undefined {
  const before = snapshotOf(state);
  const gathered = gather(state, removeUpTo);
  return gathered === undefined
    ? undefined
    : { gathered, before, holding: holdingAfter(state, gathered.entries) };
}

/** Puts it back among what is pending: the client has not seen anything of it. */
export function putBack(state: DeltaState, { before }: Taken): void {
  state.sent = before.sent;
  state.held = before.held;
  state.initial = before.initial;
  state.initialShared = before.initialShared;
  for (const topic of before.dirty) state.dirty.add(topic);
  for (const [topic, since] of before.unanswered) state.unanswered.set(topic, since);
  for (const name of before.owed) state.owed.add(name);
  if (before.rejected !== undefined) giveBack(state.exchange, before.rejected);
}

function snapshotOf({
  sent,
  held,
  initial,
  initialShared,
  dirty,
  unanswered,
  owed,
  exchange: { rejected },
}: DeltaState): BeforeTaken {
  return {
    sent,
    held,
    initial: initialShared ? initial : initial && new Map(initial),
    initialShared,
    dirty: [...dirty],
    unanswered: new Map(unanswered),
    owed: [...owed],
    rejected: rejected?.again === true ? rejected : undefined,
  };
}
