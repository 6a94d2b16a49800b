import type { Entry } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";
import { pairMemo } from "./pair-memo.ts";

/**
 * What exists, and of what was shown before all that is still subscribed: make before break (S-ORD-1).
 * The array of members itself if nothing was removed; the same array for the same two, so that streams in the same state share its frame.
 */
export function unionOf(
  members: readonly Entry[],
  shown: readonly Entry[],
  isWanted: (name: string) => boolean,
): readonly Entry[] {
  const union = shared(members, shown);
  return union === members || union.every(({ name }) => isWanted(name))
    ? union
    : joined(
        members,
        shown.filter(({ name }) => isWanted(name)),
      );
}

function joined(members: readonly Entry[], shown: readonly Entry[]): readonly Entry[] {
  const present = new Set(
    members.filter(({ resource }) => resource !== undefined).map(({ name }) => nameKey(name)),
  );
  const gone = shown.filter(
    ({ name, resource }) => resource !== undefined && !present.has(nameKey(name)),
  );
  if (gone.length === 0) return members;
  const held = new Set(gone.map(({ name }) => nameKey(name)));
  return [...members.filter(({ name }) => !held.has(nameKey(name))), ...gone];
}

const shared = pairMemo(joined);
