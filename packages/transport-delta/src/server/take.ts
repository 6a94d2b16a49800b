import type { Entry, Topic } from "@xdstp/core";
import { giveBack, type Rejected } from "@xdstp/protocol/server";
import type { DeltaState } from "./delta-state.ts";
import { gather, type Gathered } from "./gather.ts";
import { holdingAfter } from "./heartbeat.ts";

/** What is to be sent later as it was at the revision of a cut, and the state from which it was taken. */
export interface Taken {
  readonly gathered: Gathered;
  readonly before: Snapshot;
  /** All that the client holds once it has it; undefined where nothing of it has a TTL. */
  readonly holding: readonly Entry[] | undefined;
}

interface Snapshot extends Pick<DeltaState, "sent" | "held" | "initial" | "initialShared"> {
  readonly dirty: readonly Topic[];
  readonly unanswered: ReadonlyMap<Topic, number>;
  readonly owed: readonly string[];
  readonly rejected: Rejected | undefined;
}

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
}: DeltaState): Snapshot {
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
