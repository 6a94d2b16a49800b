import type { Entry, Topic } from "@xdstp/core";
import { giveBack, type Rejected } from "@xdstp/protocol/server";
import { gather } from "./gather.ts";
import type { Gathered } from "./gathered.ts";
import { holdingAfter } from "./heartbeat.ts";
import type { SotwState } from "./sotw-state.ts";

/** What is to be sent later as it was at the revision of a cut, and the state from which it was taken. */
export interface Taken {
  readonly gathered: Gathered;
  readonly before: Snapshot;
  /** All that the client holds once it has it; undefined where nothing of it has a TTL. */
  readonly holding: readonly Entry[] | undefined;
}

interface Snapshot extends Pick<SotwState, "sent" | "gone"> {
  readonly dirty: readonly Topic[];
  readonly unanswered: readonly Topic[];
  readonly owed: readonly string[];
  readonly rejected: Rejected | undefined;
}

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
}: SotwState): Snapshot {
  return {
    sent,
    gone,
    dirty: [...dirty],
    unanswered: [...unanswered],
    owed: [...owed],
    rejected: rejected?.again === true ? rejected : undefined,
  };
}
