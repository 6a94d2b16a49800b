import type { Entry } from "@xdstp/core";
import { baseOf, hashOf, holdBack, versionOf } from "@xdstp/protocol/server";
import type { Gathered } from "./gathered.ts";
import { keyOf } from "./lookup.ts";
import type { SotwState } from "./sotw-state.ts";

/** Keeps what refers to a rejected name back: in a full state it stays as it was shown before (S-ORD-4). What is sent of these names now is not owed any more. */
export function withoutRejected(state: SotwState, gathered: Gathered): Gathered {
  const { entries, heldBack } = holdBack(state.type, state.host, gathered.entries);
  if (heldBack.size === 0 && state.heldBack.size === 0) return gathered;
  const sent = new Set(entries.map(({ name }) => name));
  state.heldBack = new Map(
    [...state.heldBack].filter(([name]) => !sent.has(name)).concat([...heldBack]),
  );
  state.heldBackFrom =
    state.heldBack.size === 0 ? Infinity : Math.min(state.heldBackFrom, baseOf(gathered));
  if (entries === gathered.entries) return gathered;
  const shown =
    state.type?.fullStateInSotw === true ? [...entries, ...shownBefore(state, heldBack)] : entries;
  const fresh = new Set(gathered.fresh);
  return {
    ...gathered,
    entries: shown,
    fresh: entries.filter((entry) => fresh.has(entry)),
    version: state.type?.fullStateInSotw === true ? versionOf(hashOf(shown)) : gathered.version,
  };
}

function shownBefore(
  { kept }: SotwState,
  heldBack: ReadonlyMap<string, unknown>,
): readonly Entry[] {
  const keys = new Set([...heldBack.keys()].map(keyOf));
  return kept.filter(({ name, resource }) => resource !== undefined && keys.has(keyOf(name)));
}
