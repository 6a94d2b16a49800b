import type { Entry } from "@xdstp/core";
import { entryKey, mergeEntries } from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import type { DeltaState, HeldRemovals } from "./delta-state.ts";

/** Removals, divided at a revision. */
interface Split {
  readonly older: readonly Entry[];
  readonly newer: readonly Entry[];
}

/**
 * Keeps removals back. They replace earlier waiting removals of the same names: the client may
 * still have a state from before those.
 */
export function holdRemovals(state: DeltaState, entries: readonly Entry[], base: number): void {
  const keys = new Set(entries.map(idOf));
  const isReplaced = (entry: Entry): boolean => keys.has(idOf(entry));
  const replaced = state.held.filter((part) => part.entries.some(isReplaced));
  state.held = [
    ...without(state.held, isReplaced),
    { entries, base: Math.min(base, heldBaseOf({ held: replaced })) },
  ];
}

/**
 * Takes the removals up to a revision. If all of them come from one response, it returns the same
 * array, so that streams in the same state share frames.
 */
export function takeRemovals(state: DeltaState, upTo: number): readonly Entry[] {
  if (state.held.length === 0) return NONE;
  const taken = state.held.map(({ entries }) => splitAt(entries, upTo).older);
  state.held = without(state.held, ({ revision }) => revision <= upTo);
  const [only, ...others] = taken.filter((part) => part.length > 0);
  if (only === undefined) return NONE;
  return others.length === 0 ? only : mergeEntries(state, [only, ...others]);
}

/** Drops these removals. */
export function dropRemovals(state: DeltaState, entries: ReadonlySet<Entry>): void {
  state.held = without(state.held, (entry) => entries.has(entry));
}

/**
 * Returns the revision of the oldest state that the client may have of a name whose removal waits;
 * Infinity: none waits.
 */
export function heldBaseOf({ held }: Pick<DeltaState, "held">): number {
  return held.reduce((oldest, { base }) => Math.min(oldest, base), Infinity);
}

/** Returns the revision of the oldest removal that waits; Infinity: none waits. */
export function heldFromOf({ held }: Pick<DeltaState, "held">): number {
  let oldest = Infinity;
  for (const { entries } of held)
    for (const { revision } of entries) oldest = Math.min(oldest, revision);
  return oldest;
}

/** Returns all removals that wait. */
export function heldEntries({ held }: Pick<DeltaState, "held">): readonly Entry[] {
  const [first = NOTHING] = held;
  return held.length < 2 ? first.entries : held.flatMap(({ entries }) => entries);
}

/** Returns a function that is true for a name, or a variant of it, whose removal waits now. */
export function heldCheck(state: Pick<DeltaState, "held">): (entry: Entry) => boolean {
  if (state.held.length === 0) return () => false;
  const ids = new Set(heldEntries(state).map(idOf));
  return (entry) => ids.has(idOf(entry));
}

/** Divides entries at a revision; the same array if all are on one side. */
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

/** Returns a key for an entry: of its variant, or of its name. */
function idOf(entry: Entry): string {
  return entryKey(entry, nameKey(entry.name));
}
