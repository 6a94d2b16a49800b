import type { Entry } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

/**
 * Returns what exists, and of what was shown before all names that are still subscribed: make
 * before break (S-ORD-1).
 * The array of members itself if nothing was removed; the same array for the same two arrays, so
 * that streams in the same state share its frame.
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

/**
 * Returns the entries of a full state that the client does not have in that state: only these cause
 * warming (S-WARM-1).
 */
export const freshOf: (entries: readonly Entry[], held: readonly Entry[]) => readonly Entry[] =
  pairMemo((entries, held) => {
    const before = new Set(held);
    return entries.filter((entry) => !before.has(entry));
  });

const known = new WeakMap<readonly Entry[], readonly Entry[]>();

/**
 * Returns the entries of a full state that have an error and no resource; computed once per array.
 */
function errorsIn(entries: readonly Entry[]): readonly Entry[] {
  let errors = known.get(entries);
  if (errors === undefined)
    known.set(
      entries,
      (errors = entries.filter(
        ({ resource, error }) => resource === undefined && error !== undefined,
      )),
    );
  return errors;
}

/**
 * Leaves out errors that the client has been sent: each full state has all resources, but an error
 * is sent once (S-ERR-1, S-ERR-2). `held`: what the client has.
 */
export function withoutToldErrors(
  entries: readonly Entry[],
  held: readonly Entry[],
): readonly Entry[] {
  return errorsIn(entries).length === 0 || errorsIn(held).length === 0
    ? entries
    : rest(entries, held);
}

/** Returns true if a full state has an error that the client was not sent yet. */
export function hasNewErrors(entries: readonly Entry[], held: readonly Entry[]): boolean {
  const errors = errorsIn(entries);
  return errors.length > 0 && errors.some((entry) => !errorsIn(held).includes(entry));
}

const rest = pairMemo((entries, held) => {
  const told = new Set(errorsIn(held));
  return entries.filter((entry) => !told.has(entry));
});

type Entries = readonly Entry[];

/**
 * Returns a function that computes its result once per pair of arrays, for as long as both exist:
 * streams in the same state share the result.
 */
export function pairMemo(
  compute: (first: Entries, second: Entries) => Entries,
): (first: Entries, second: Entries) => Entries {
  const known = new WeakMap<Entries, WeakMap<Entries, Entries>>();
  return (first, second) => {
    let bySecond = known.get(first);
    if (bySecond === undefined) known.set(first, (bySecond = new WeakMap()));
    let outcome = bySecond.get(second);
    if (outcome === undefined) bySecond.set(second, (outcome = compute(first, second)));
    return outcome;
  };
}
