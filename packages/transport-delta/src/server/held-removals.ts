import type { Entry } from "@xdstp/core";
import { entryKey, mergeEntries } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { DeltaState, HeldRemovals } from "./delta-state.ts";

/** Removals on both sides of a revision. */
interface Split {
  readonly older: readonly Entry[];
  readonly newer: readonly Entry[];
}

/** Keeps removals back. They replace what waited of the same names until now: the client may still have what came before that. */
export function holdRemovals(state: DeltaState, entries: readonly Entry[], base: number): void {
  const keys = new Set(entries.map(idOf));
  const isReplaced = (entry: Entry): boolean => keys.has(idOf(entry));
  const replaced = state.held.filter((part) => part.entries.some(isReplaced));
  state.held = [
    ...without(state.held, isReplaced),
    { entries, base: Math.min(base, heldBaseOf({ held: replaced })) },
  ];
}

/** Takes those out up to a revision; the same array where one response has left them all, so that streams in one state go on sharing frames. */
export function takeRemovals(state: DeltaState, upTo: number): readonly Entry[] {
  if (state.held.length === 0) return NONE;
  const taken = state.held.map(({ entries }) => splitAt(entries, upTo).older);
  state.held = without(state.held, ({ revision }) => revision <= upTo);
  const [only, ...others] = taken.filter((part) => part.length > 0);
  if (only === undefined) return NONE;
  return others.length === 0 ? only : mergeEntries(state, [only, ...others]);
}

/** Takes these out. */
export function dropRemovals(state: DeltaState, entries: ReadonlySet<Entry>): void {
  state.held = without(state.held, (entry) => entries.has(entry));
}

/** Revision of the oldest state that the client may have of a name whose removal waits; Infinity: none waits. */
export function heldBaseOf({ held }: Pick<DeltaState, "held">): number {
  return held.reduce((oldest, { base }) => Math.min(oldest, base), Infinity);
}

/** Revision of the oldest removal that waits; Infinity: none does. */
export function heldFromOf({ held }: Pick<DeltaState, "held">): number {
  let oldest = Infinity;
  for (const { entries } of held)
    for (const { revision } of entries) oldest = Math.min(oldest, revision);
  return oldest;
}

/** All that waits. */
export function heldEntries({ held }: Pick<DeltaState, "held">): readonly Entry[] {
  const [first = NOTHING] = held;
  return held.length < 2 ? first.entries : held.flatMap(({ entries }) => entries);
}

/** Returns a function that says whether a removal of a name, or of this variant of it, waits now. */
export function heldCheck(state: Pick<DeltaState, "held">): (entry: Entry) => boolean {
  if (state.held.length === 0) return () => false;
  const ids = new Set(heldEntries(state).map(idOf));
  return (entry) => ids.has(idOf(entry));
}

/** Splits at a revision; the same array where all of it is on one side. */
export function splitAt(entries: readonly Entry[], upTo: number): Split {
  if (entries.every(({ revision }) => revision <= upTo)) return { older: entries, newer: NONE };
  return {
    older: entries.filter(({ revision }) => revision <= upTo),
    newer: entries.filter(({ revision }) => revision > upTo),
  };
}

const NONE: readonly Entry[] = [];
const NOTHING: HeldRemovals = { entries: NONE, base: Infinity };

function without(
  held: readonly HeldRemovals[],
  leaves: (entry: Entry) => boolean,
): readonly HeldRemovals[] {
  return held.flatMap(({ entries, base }) => {
    const rest = entries.filter((entry) => !leaves(entry));
    return rest.length === 0
      ? []
      : { entries: rest.length === entries.length ? entries : rest, base };
  });
}

/** Of a variant, or of a name. */
function idOf(entry: Entry): string {
  return entryKey(entry, nameKey(entry.name));
}
