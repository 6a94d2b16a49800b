import type { Removal, Transaction, TypedInterest } from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { Noting } from "./note-transaction.ts";

/** Type URLs of which an upstream has sent something. */
export type AnsweredTypes = Set<string>;

/** A transaction without the conclusions from silence that contradict the snapshot. */
export interface Believed {
  readonly pass: Transaction;
  /** Removals and settlements that the cache gets and the snapshot does not, since they are only concluded from silence. */
  readonly doubtful: ReadonlySet<Removal | TypedInterest>;
}

const NONE: ReadonlySet<never> = new Set<never>();

/**
 * A server that is up and does not have a name reports that, or sends other resources of the type. A server that has not sent anything of a type may still be starting:
 * its silence removes nothing that is served from the snapshot (B-RELAY-10).
 */
export function believed(
  noting: Noting,
  answeredTypes: AnsweredTypes,
  given: Transaction,
): Believed {
  const { remove = [], settled = [] } = given;
  const silent = [
    ...remove.filter(isSilence),
    ...settled.filter(({ timedOut }) => timedOut === true),
  ];
  noteAnswered(answeredTypes, given);
  const doubtful: ReadonlySet<Removal | TypedInterest> =
    silent.length === 0
      ? NONE
      : new Set(silent.filter(({ typeUrl }) => !answeredTypes.has(typeUrl)));
  if (doubtful.size === 0) return { pass: given, doubtful };
  const passes = (one: Removal | TypedInterest): boolean =>
    !doubtful.has(one) || !isRestored(noting, one);
  return {
    pass: { ...given, remove: remove.filter(passes), settled: settled.filter(passes) },
    doubtful,
  };
}

function noteAnswered(
  answeredTypes: AnsweredTypes,
  { put = [], remove = [], complete = [], settled = [] }: Transaction,
): void {
  for (const { typeUrl } of put) answeredTypes.add(typeUrl);
  for (const removal of remove) if (!isSilence(removal)) answeredTypes.add(removal.typeUrl);
  for (const { typeUrl } of complete) answeredTypes.add(typeUrl);
  for (const { typeUrl, timedOut } of settled) if (timedOut !== true) answeredTypes.add(typeUrl);
}

function isSilence({ error }: Removal): boolean {
  return error?.context.reason === "late";
}

function isRestored({ subscribed }: Noting, one: Removal | TypedInterest): boolean {
  const name = "interest" in one ? one.interest.name : one.name;
  for (const { restoredAt } of subscribed.ofName(one.typeUrl, nameKey(name)))
    if (restoredAt !== undefined) return true;
  return false;
}
