import type { Entry } from "@xdstp/core";
import { hashOf, holdBack, versionOf } from "@xdstp/protocol/server";
import { heldBy } from "./gather-full-state.ts";
import type { Gathered } from "./gathered.ts";
import { keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** A response without the names that wait, and these in their newest state. */
export interface Sendable {
  readonly sendable: Gathered;
  readonly held: readonly Entry[];
}

/** Leaves out what names something that the client does not have yet: in a full state it stays as it was shown before (S-ORD-4). */
export function withoutHeld(state: SotwState, gathered: Gathered): Sendable {
  const isFullState = state.type?.fullStateInSotw === true;
  const { entries, held, base } = holdBack(state, gathered.entries, gathered.base, isFullState);
  if (held.length === 0)
    return { sendable: base === gathered.base ? gathered : { ...gathered, base }, held };
  const shown = isFullState ? [...entries, ...shownBefore(state, held, entries)] : entries;
  const before = new Set(gathered.entries);
  const fresh = new Set(gathered.fresh);
  const sendable = {
    ...gathered,
    base,
    entries: shown,
    // What was kept for a name that goes on waiting is new to the client.
    fresh: entries.filter((entry) => fresh.has(entry) || !before.has(entry)),
    version: isFullState ? versionOf(hashOf(shown)) : gathered.version,
  };
  return { sendable, held };
}

function shownBefore(
  state: SotwState,
  held: readonly Entry[],
  entries: readonly Entry[],
): readonly Entry[] {
  const sent = new Set(entries.map(({ name }) => keyOf(name)));
  const keys = new Set(held.map(({ name }) => keyOf(name)).filter((key) => !sent.has(key)));
  return heldBy(state).filter(
    ({ name, resource }) => resource !== undefined && keys.has(keyOf(name)),
  );
}
