import {
  XdsError,
  type Committed,
  type Put,
  type ResourceSink,
  type TypedInterest,
} from "@xdstp/core";

import { overlap } from "./make-room.ts";

import type { SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./shelf.ts";
import type { RestoredRecord, SnapshotStore } from "./snapshot-store.ts";
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
  /** It is still subscribed, and upstream has not answered it. */
  readonly isOpen: (wanted: Wanted) => boolean;
  /** Something that is subscribed covers it. */
  readonly isWanted: (record: SnapshotRecord) => boolean;
  /** A later turn is waited for, or has begun. */
  readonly noteTurn: (waits: boolean) => void;
  /** It is served from the snapshot now, and was not before. */
  readonly noteServed: () => void;
  /** The relay is closed: nothing more is read. */
  readonly isOver: () => boolean;
}

/** What of the snapshot is for an interest, and still alive. */
export function coveredBy(
  { store, space, inWildcard }: Pick<Restoring, "store" | "space" | "inWildcard">,
  { typeUrl, interest }: Pick<Wanted, "typeUrl" | "interest">,
): readonly SnapshotRecord[] {
  return store.index.shelf(space, typeUrl).covered(interest, inWildcard);
}

/** Interests, and resources, that are restored in one turn of the event loop: more at once would keep the relay from serving for longer than 100 ms. */
const SLICE = 500;

/**
 * Serves from the snapshot what these ask for, at once, and marks it as stale (B-RELAY-9). A collection settles only where all of it was known and nothing of it is left out:
 * what is not stored is pending, not missing. What is known of an incomplete collection is marked only in an outage: delta clients are sent its members then, and nothing is concluded from them. What has expired is not there (B-RELAY-12).
 * More than 500 are restored in several turns, and each interest is settled when all of it is.
 */
export function restore(restoring: Restoring, wanted: readonly Wanted[]): void {
  goOn(restoring, slicesOf(restoring, wanted));
}

/** What one turn does: it reads these, and then settles those. */
interface Slice {
  readonly records: readonly SnapshotRecord[];
  readonly settles: readonly Wanted[];
}

/** Looked up one after the other, since upstream may have answered some of it before a later turn. */
function* slicesOf(restoring: Restoring, wanted: readonly Wanted[]): Generator<Slice, undefined> {
  for (let from = 0; from < wanted.length; from += SLICE) {
    const settles = wanted.slice(from, from + SLICE);
    const records = [
      ...new Set(settles.flatMap((one) => alive(restoring, one).filter(isUnread))),
    ].sort((a, b) => a.row - b.row);
    for (let at = 0; at + SLICE < records.length; at += SLICE)
      yield { records: records.slice(at, at + SLICE), settles: [] };
    const last = records.length - (records.length % SLICE || Math.min(SLICE, records.length));
    yield { records: records.slice(last), settles };
  }
  return undefined;
}

function goOn(restoring: Restoring, slices: Iterator<Slice, undefined>): void {
  const { value } = slices.next();
  if (value === undefined) return;
  const conclude = (): void => {
    settle(restoring, value.settles);
    nextTurn(restoring, () => {
      goOn(restoring, slices);
    });
  };
  const read = restoreRecords(restoring, value.records);
  if (read === undefined) conclude();
  else void read.then(conclude);
}

/** In a later turn upstream may have said some of it, and some may not be subscribed any more. */
function restoreRecords(
  restoring: Restoring,
  records: readonly SnapshotRecord[],
): Promise<void> | undefined {
  const { store, own } = restoring;
  const now = store.clock.wallTime();
  const read = store.read(
    records.filter(
      (record) =>
        isUnread(record) &&
        store.index.has(record) &&
        restoring.isWanted(record) &&
        !isReplaced(restoring, record),
    ),
  );
  if (read.length === 0) return undefined;
  const committed = own.commit({ put: read.map((one) => putOf(one, store, now)) });
  const note = ({ rejected = [] }: Committed): void => {
    const bad = new Set(rejected.map(({ typeUrl, name }) => `${typeUrl}\n${name}`));
    for (const { record } of read)
      if (store.index.has(record) && !record.said && !bad.has(`${record.typeUrl}\n${record.name}`))
        record.restored = true;
  };
  if (committed.decided !== undefined) return committed.decided.then(note);
  note(committed);
  return undefined;
}

function nextTurn({ noteTurn, isOver }: Restoring, act: () => void): void {
  noteTurn(true);
  setImmediate(() => {
    noteTurn(false);
    if (!isOver()) act();
  });
}

/** Upstream has said another variant meanwhile, for some of the same clients (S-DYN-4). */
function isReplaced({ store, space }: Restoring, record: SnapshotRecord): boolean {
  const others = store.index.shelf(space, record.typeUrl).of(record.key);
  return (
    others.length > 1 &&
    others.some(
      (other) =>
        other !== record &&
        other.said &&
        other.key === record.key &&
        overlap(record.variant, other.variant),
    )
  );
}

/** What is for an interest and has not expired. */
function alive(restoring: Restoring, wanted: Wanted): readonly SnapshotRecord[] {
  const now = restoring.store.clock.wallTime();
  return coveredBy(restoring, wanted).filter(({ expiresAt = Infinity }) => expiresAt > now);
}

function isUnread({ state, said, restored }: SnapshotRecord): boolean {
  return state === "stored" && !said && !restored;
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

function settle(restoring: Restoring, candidates: readonly Wanted[]): void {
  const { own, store, space } = restoring;
  const covered = candidates
    .filter(restoring.isOpen)
    .map((one) => [one, alive(restoring, one)] as const);
  const whole = covered.filter(
    ([{ typeUrl, interest, isCollection }, all]) =>
      isCollection &&
      store.collection(space, typeUrl, interest) !== undefined &&
      all.every((record) => record.said || record.restored),
  );
  if (whole.length > 0)
    void own.commit({
      settled: whole.map(([{ typeUrl, interest }]) =>
        settledAs(store.collection(space, typeUrl, interest), { typeUrl, interest }),
      ),
    });
  const settled = new Set(whole.map(([wanted]) => wanted));
  for (const [wanted, all] of covered) {
    wanted.isPartial = wanted.isCollection && !settled.has(wanted);
    const restored = all.filter((record) => record.restored);
    if (restored.length > 0 || settled.has(wanted)) mark(restoring, wanted, restored);
  }
}

/** A collection that upstream has said why it is empty is so again. */
function settledAs(
  { error }: Pick<StoredCollection, "error"> = {},
  interest: TypedInterest,
): TypedInterest {
  return error === undefined ? interest : { ...interest, error };
}

function mark(restoring: Restoring, wanted: Wanted, restored: readonly SnapshotRecord[]): void {
  const { own, store, space, isOut } = restoring;
  const { typeUrl, interest } = wanted;
  const newest = restored.reduce((latest, { storedAt }) => Math.max(latest, storedAt), 0);
  if (wanted.restoredAt === undefined) restoring.noteServed();
  wanted.restoredAt = Math.max(newest, store.collection(space, typeUrl, interest)?.at ?? 0);
  if (wanted.isPartial && !isOut(wanted)) return;
  const seconds = Math.max(0, Math.round((store.clock.wallTime() - wanted.restoredAt) / 1_000));
  own.unavailable(
    { typeUrl, interest },
    new XdsError(
      "UNAVAILABLE",
      `from the snapshot of ${new Date(wanted.restoredAt).toISOString()}, ${seconds} s old; upstream has not answered yet`,
      { typeUrl, resource: interest.name },
    ),
  );
}
