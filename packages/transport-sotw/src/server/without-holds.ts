import type { Entry } from "@xdstp/core";
import { baseOf, hashOf, holdBack, type Holds, versionOf } from "@xdstp/protocol/server";
import type { Gathered } from "./gathered.ts";
import { keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** Leaves out what refers to a name that the client does not have: in a full state it stays as it was shown before (S-ORD-2, S-ORD-4). */
export function withoutHolds(state: SotwState, gathered: Gathered, isLimited: boolean): Gathered {
  const entries = holdBack(state, gathered.entries, baseOf(gathered), isLimited);
  if (entries === gathered.entries) return gathered;
  const isFullState = state.type?.fullStateInSotw === true;
  const shown = isFullState ? withShownBefore(state, entries) : entries;
  const [fresh, before] = [new Set(gathered.fresh), new Set(gathered.entries)];
  return {
    ...gathered,
    entries: shown,
    fresh: entries.filter((entry) => fresh.has(entry) || !before.has(entry)),
    version: isFullState ? versionOf(hashOf(shown)) : gathered.version,
  };
}

/** A name that waits is shown as before, if it is not shown in a state that may go. */
function withShownBefore(
  { kept, heldBack }: { readonly kept: readonly Entry[]; readonly heldBack: Holds },
  entries: readonly Entry[],
): readonly Entry[] {
  const shown = new Set(entries.map(({ name }) => keyOf(name)));
  const keys = new Set([...heldBack.keys()].map(keyOf));
  return [
    ...entries,
    ...kept.filter(
      ({ name, resource }) =>
        resource !== undefined && keys.has(keyOf(name)) && !shown.has(keyOf(name)),
    ),
  ];
}
