import type { Removal, Transaction, TypedInterest } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Noting } from "./note-transaction.ts";

/** Types of which an upstream has said something. */
export type Spoken = Set<string>;

/** A transaction without what is only concluded from silence, as far as the snapshot knows better. */
export interface Believed {
  readonly pass: Transaction;
  /** What passes though nobody has said it: the snapshot keeps what it has. */
  readonly doubtful: ReadonlySet<Removal | TypedInterest>;
}

const NOBODY: ReadonlySet<never> = new Set<never>();

/**
 * Upstream that answers and does not have a name says so, or says other things of the type meanwhile. One that has said nothing of a type may be only starting:
 * nothing that is served from the snapshot goes because of that (B-RELAY-10).
 */
export function believed(noting: Noting, spoken: Spoken, given: Transaction): Believed {
  const { remove = [], settled = [] } = given;
  const silent = [
    ...remove.filter(isSilence),
    ...settled.filter(({ timedOut }) => timedOut === true),
  ];
  noteSpoken(spoken, given);
  const doubtful: ReadonlySet<Removal | TypedInterest> =
    silent.length === 0 ? NOBODY : new Set(silent.filter(({ typeUrl }) => !spoken.has(typeUrl)));
  if (doubtful.size === 0) return { pass: given, doubtful };
  const passes = (one: Removal | TypedInterest): boolean =>
    !doubtful.has(one) || !isRestored(noting, one);
  return {
    pass: { ...given, remove: remove.filter(passes), settled: settled.filter(passes) },
    doubtful,
  };
}

function noteSpoken(
  spoken: Spoken,
  { put = [], remove = [], complete = [], settled = [] }: Transaction,
): void {
  for (const { typeUrl } of put) spoken.add(typeUrl);
  for (const removal of remove) if (!isSilence(removal)) spoken.add(removal.typeUrl);
  for (const { typeUrl } of complete) spoken.add(typeUrl);
  for (const { typeUrl, timedOut } of settled) if (timedOut !== true) spoken.add(typeUrl);
}

function isSilence({ error }: Removal): boolean {
  return error?.context.timedOut === true && error.context.leftOut !== true;
}

function isRestored({ wanted }: Noting, one: Removal | TypedInterest): boolean {
  const name = "interest" in one ? one.interest.name : one.name;
  for (const { restoredAt } of wanted.of(one.typeUrl, nameKey(name)))
    if (restoredAt !== undefined) return true;
  return false;
}
