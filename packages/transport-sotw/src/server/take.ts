import { giveBack } from "@xdstp/protocol/server";
import { gather } from "./gather.ts";
import { holdingAfter } from "./heartbeat.ts";
import type { BeforeTaken, SotwState, Taken } from "./sotw-state.ts";

/** Takes what is pending out of the topics, to be sent later as it is now. */
export function take(state: SotwState, removeUpTo: number): Taken {
  const before = snapshotOf(state);
  const gathered = gather(state, removeUpTo);
  return { gathered, before, holding: holdingAfter(state, gathered.entries) };
}

/** Puts it back among what is pending: the client has not seen anything of it. */
export function putBack(state: SotwState, { before }: Taken): void {
  state.sent = before.sent;
  state.gone = before.gone;
  for (const topic of before.dirty) state.dirty.add(topic);
  for (const topic of before.unanswered) state.unanswered.add(topic);
  for (const name of before.owed) state.owed.add(name);
  if (before.rejected !== undefined) giveBack(state.exchange, before.rejected);
}

function snapshotOf({
  sent,
  gone,
  dirty,
  unanswered,
  owed,
  exchange: { rejected },
}: SotwState): BeforeTaken {
  return {
    sent,
    gone,
    dirty: [...dirty],
    unanswered: [...unanswered],
    owed: [...owed],
    rejected: rejected?.again === true ? rejected : undefined,
  };
}
