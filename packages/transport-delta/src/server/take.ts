import type { BeforeTaken, DeltaState } from "./delta-state.ts";

/** Copies what a cut takes out of the state. */
export function copyPending({ held, initial, initialShared, unanswered }: DeltaState): BeforeTaken {
  return {
    held,
    initial: initialShared ? initial : initial && new Map(initial),
    initialShared,
    unanswered: new Map(unanswered),
  };
}

/** Puts it back. */
export function putBack(
  state: DeltaState,
  { held, initial, initialShared, unanswered }: BeforeTaken,
): void {
  state.held = held;
  state.initial = initial;
  state.initialShared = initialShared;
  for (const [topic, since] of unanswered) state.unanswered.set(topic, since);
}
