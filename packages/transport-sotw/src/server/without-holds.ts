import type { Entry } from "@xdstp/core";
import {
  addHash,
  byName,
  hashOf,
  NO_HOLDS,
  versionOf,
  topicsOf,
  withoutHeldBack,
} from "@xdstp/protocol/server";
import { nameKey } from "@xdstp/uri";
import { heldBy } from "./gather-full-state.ts";
import type { SotwState, Gathered } from "./sotw-state.ts";

/**
 * Leaves out the entries that refer to a name which the client does not have. In a full state such
 * a name stays in the state that was shown before (S-ORD-2, S-ORD-4).
 */
export function withoutHolds(state: SotwState, gathered: Gathered, isLimited: boolean): Gathered {
  const held = withoutHeldBack(state, gathered, {
    isLimited,
    mustShow: ({ name }) => mustShow(state, name),
    isShown: (entry) => isShown(state, entry),
  });
  const { entries } = held;
  const isFullState = state.type?.fullStateInSotw === true;
  if (isFullState) forgetRemoved(state, gathered.entries);
  if (entries === gathered.entries)
    return held === gathered ? held : { ...held, version: versionAfter(state, gathered) };
  const shown = isFullState ? withShownBefore(state, entries) : entries;
  const [fresh, before] = [new Set(gathered.fresh), new Set(gathered.entries)];
  return {
    ...held,
    entries: shown,
    fresh: entries.filter((entry) => fresh.has(entry) || !before.has(entry)),
    version: isFullState ? versionOf(hashOf(shown)) : versionAfter(state, gathered),
  };
}

/**
 * Returns true if a response has to have a name. The client deletes what a full state lacks, so all
 * of it waits for a subscribed name that was not shown yet, for a name of a rejected response, of
 * which the client may have applied a part, and for every name while the client has just come back
 * and its state is not known.
 */
export function mustShow(state: SotwState, name: string): boolean {
  if (state.type?.fullStateInSotw !== true) return false;
  if (state.returning) return true;
  if (byName(state.kept).has(name)) return false;
  if (byName(state.shown).has(name)) return state.exchange.rejected !== undefined;
  return topicsOf(state, nameKey(name)).length > 0;
}

/**
 * Returns true if a full state had exactly this entry and was not rejected. It does not wait again:
 * what waits for it would wait for ever.
 */
export function isShown(state: SotwState, entry: Entry): boolean {
  return state.type?.fullStateInSotw === true && byName(heldBy(state)).get(entry.name) === entry;
}

/**
 * Returns the version of a partial state: that of everything that the client has then. A client
 * that comes back with it is sent nothing (S-RECON-7).
 */
function versionAfter({ heldBack }: SotwState, { version, hash }: Gathered): string {
  if (heldBack.size === 0 || hash === undefined) return version;
  const waiting = hashOf([...heldBack.values()].map(({ entry }) => entry));
  return versionOf(addHash(hash, -waiting - 1));
}

/**
 * Forgets the removed names that a full state lacks: the client removes them when it accepts the
 * state.
 */
function forgetRemoved(state: SotwState, entries: readonly Entry[]): void {
  if (![...state.heldBack.values()].some(({ phase }) => phase === "removed")) return;
  const shown = new Set(entries.map(({ name }) => nameKey(name)));
  const left = [...state.heldBack].filter(
    ([key, { phase }]) => phase !== "removed" || shown.has(key),
  );
  state.heldBack = left.length === 0 ? NO_HOLDS : new Map(left);
}

/** Adds the waiting names that are not in the response, in the state that was shown before. */
function withShownBefore(state: SotwState, entries: readonly Entry[]): readonly Entry[] {
  const { heldBack } = state;
  const shown = new Set(entries.map(({ name }) => nameKey(name)));
  return [
    ...entries,
    ...heldBy(state).filter(
      ({ name, resource }) =>
        resource !== undefined && heldBack.has(nameKey(name)) && !shown.has(nameKey(name)),
    ),
  ];
}
