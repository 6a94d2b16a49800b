import type { Entry } from "@xdstp/core";
import { pairMemo } from "./pair-memo.ts";

const known = new WeakMap<readonly Entry[], readonly Entry[]>();

/** The entries of a full state that say why there is no resource; read once per array. */
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

/** A full state names all that exists each time, but an error once only (S-ERR-1, S-ERR-2). `held` is what the client has. */
export function withoutToldErrors(
  entries: readonly Entry[],
  held: readonly Entry[],
): readonly Entry[] {
  return errorsIn(entries).length === 0 || errorsIn(held).length === 0
    ? entries
    : rest(entries, held);
}

/** Returns whether a full state has an error that the client was not sent yet. */
export function hasNewErrors(entries: readonly Entry[], held: readonly Entry[]): boolean {
  const errors = errorsIn(entries);
  return errors.length > 0 && errors.some((entry) => !errorsIn(held).includes(entry));
}

const rest = pairMemo((entries, held) => {
  const told = new Set(errorsIn(held));
  return entries.filter((entry) => !told.has(entry));
});
