import { XdsError, type Committed, type Put, type ResourceSink, type TypedInterest } from "@xdstp/core";

import type { RestoredRecord } from "./read-records.ts";
import type { SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./shelf.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { Wanted } from "./wanted-book.ts";

/** What {@link restore} needs. */
export interface Restoring {
  readonly store: SnapshotStore;
  readonly space: string;
  /** A sink of its own, so that what upstream says is never taken for this. */
  readonly own: ResourceSink;
  readonly inWildcard: (name: string) => boolean;
  /** Upstream cannot be reached, or does not answer in time. Otherwise its first answer is waited for. */
  readonly isOut: (wanted: Wanted) => boolean;
}

/** What of the snapshot is for an interest, and still alive. */
export function coveredBy({ store, space, inWildcard }: Pick<Restoring, "store" | "space" | "inWildcard">, { typeUrl, interest }: Pick<Wanted, "typeUrl" | "interest">): readonly SnapshotRecord[] {
  return store.index.shelf(space, typeUrl).covered(interest, inWildcard);
}

/**
 * Serves from the snapshot what these ask for, at once, and marks it as stale (B-RELAY-9). A collection settles only where all of it was known and nothing of it is left out:
 * what is not stored is pending, not missing. What is known of an incomplete collection is marked only in an outage: delta clients are sent its members then, and nothing is concluded from them. What has expired is not there (B-RELAY-12).
 */
export function restore(restoring: Restoring, wanted: readonly Wanted[]): void {
  const { store, own } = restoring;
  const now = store.clock.wallTime();
  const covered = wanted.map((one) => [one, coveredBy(restoring, one).filter(({ expiresAt = Infinity }) => expiresAt > now)] as const);
  const records = new Set(covered.flatMap(([, all]) => all.filter(({ state, said, restored }) => state === "stored" && !said && !restored)));
  const read = store.read([...records]);
  const conclude = ({ refused = [] }: Committed): void => {
    const bad = new Set(refused.map(({ typeUrl, name }) => `${typeUrl}\n${name}`));
    for (const { record } of read) if (store.index.has(record) && !record.said && !bad.has(`${record.typeUrl}\n${record.name}`)) record.restored = true;
    settle(restoring, covered);
  };
  if (read.length === 0) { settle(restoring, covered); return; }
  const committed = own.commit({ put: read.map((one) => putOf(one, store, now)) });
  if (committed instanceof Promise) void committed.then(conclude);
  else conclude(committed);
}

function putOf({ record, resource }: RestoredRecord, store: SnapshotStore, now: number): Put {
  const { typeUrl, name, expiresAt } = record;
  const as = name !== resource.name && { as: name };
  if (expiresAt === undefined) return { typeUrl, resource, ...as };
  // Never more than all of its time, also where the clock has gone back; and that is what it has for the restart after this one too.
  const expireMs = Math.min(expiresAt - now, resource.ttlMs ?? Infinity);
  store.refresh(record, now + expireMs);
  return { typeUrl, resource: { ...resource, expireMs }, ...as };
}

function settle(restoring: Restoring, covered: readonly (readonly [Wanted, readonly SnapshotRecord[]])[]): void {
  const { own, store, space } = restoring;
  const whole = covered.filter(([{ typeUrl, interest, isCollection }, all]) => isCollection && store.collection(space, typeUrl, interest) !== undefined && all.every((record) => record.said || record.restored));
  if (whole.length > 0) void own.commit({ settled: whole.map(([{ typeUrl, interest }]) => settledAs(store.collection(space, typeUrl, interest), { typeUrl, interest })) });
  const settled = new Set(whole.map(([wanted]) => wanted));
  for (const [wanted, all] of covered) {
    wanted.isPartial = wanted.isCollection && !settled.has(wanted);
    const restored = all.filter((record) => record.restored);
    if (restored.length > 0 || settled.has(wanted)) mark(restoring, wanted, restored);
  }
}

/** A collection that upstream has said why it is empty is so again. */
function settledAs({ error }: Pick<StoredCollection, "error"> = {}, interest: TypedInterest): TypedInterest {
  return error === undefined ? interest : { ...interest, error };
}

function mark({ own, store, space, isOut }: Restoring, wanted: Wanted, restored: readonly SnapshotRecord[]): void {
  const { typeUrl, interest } = wanted;
  const newest = restored.reduce((latest, { storedAt }) => Math.max(latest, storedAt), 0);
  wanted.restoredAt = Math.max(newest, store.collection(space, typeUrl, interest)?.at ?? 0);
  if (wanted.isPartial && !isOut(wanted)) return;
  const seconds = Math.max(0, Math.round((store.clock.wallTime() - wanted.restoredAt) / 1_000));
  own.unavailable({ typeUrl, interest }, new XdsError("UNAVAILABLE", `from the snapshot of ${new Date(wanted.restoredAt).toISOString()}, ${seconds} s old; upstream has not answered yet`, { typeUrl, resource: interest.name }));
}
