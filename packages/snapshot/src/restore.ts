import {
  XdsError,
  type Committed,
  type Put,
  type ResourceSink,
  type TypedInterest,
} from "@xdstp/core";

import { overlap, type SnapshotRecord } from "./record.ts";
import type { StoredCollection } from "./type-index.ts";
import type { RestoredRecord, SnapshotStore } from "./snapshot-store.ts";
import type { SubscribedInterest } from "./subscribed.ts";

/** The parts of a keeper that {@link restore} uses. */
export interface Restoring {
  readonly store: SnapshotStore;
  readonly space: string;
  /** A sink of its own, so that restored resources never count as sent by upstream. */
  readonly own: ResourceSink;
  readonly inWildcard: (name: string) => boolean;
  /**
   * Returns true if upstream is unreachable, or does not answer in time. Otherwise readers wait for
   * its first answer.
   */
  readonly isOut: (subscribed: SubscribedInterest) => boolean;
  /** Returns true if an interest is still subscribed and upstream has not answered it. */
  readonly isOpen: (subscribed: SubscribedInterest) => boolean;
  /** Returns true if a subscribed interest covers a record. */
  readonly isCovered: (record: SnapshotRecord) => boolean;
  /** Called when a restore waits for a later turn (true), or continues (false). */
  readonly noteTurn: (waits: boolean) => void;
  /** Called when an interest begins to be served from the snapshot. */
  readonly noteServed: () => void;
  /** Returns true if the relay is closed, so no more records are read. */
  readonly isOver: () => boolean;
}

/** Returns the records that an interest covers. */
export function coveredBy(
  { store, space, inWildcard }: Pick<Restoring, "store" | "space" | "inWildcard">,
  { typeUrl, interest }: Pick<SubscribedInterest, "typeUrl" | "interest">,
): readonly SnapshotRecord[] {
  return store.index.typeIndex(space, typeUrl).covered(interest, inWildcard);
}

/**
 * The number of interests, and of resources, that are restored in one turn of the event loop.
 * 50,000 in one turn would block the relay for seconds.
 */
const SLICE = 500;

/**
 * Serves interests from the snapshot, and marks them as stale (B-RELAY-9). A collection settles only if it is complete and each member is stored: a member that is not stored is pending, not missing.
 * An incomplete collection is marked only in an outage: delta clients receive its known members then, and nothing is concluded from them. Expired resources are left out (B-RELAY-12).
 * The first 500 are restored at once, more in later turns; an interest settles after its last resource.
 */
export function restore(restoring: Restoring, subscribed: readonly SubscribedInterest[]): void {
  goOn(restoring, slicesOf(restoring, subscribed));
}

/** The work of one turn: it restores `records`, and then settles `settles`. */
interface Slice {
  readonly records: readonly SnapshotRecord[];
  readonly settles: readonly SubscribedInterest[];
}

/**
 * Yields the slices one after the other, since upstream may have answered some interests before a
 * later turn.
 */
function* slicesOf(
  restoring: Restoring,
  subscribed: readonly SubscribedInterest[],
): Generator<Slice, undefined> {
  for (let from = 0; from < subscribed.length; from += SLICE) {
    const settles = subscribed.slice(from, from + SLICE);
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

/**
 * Restores records. Before a later turn upstream may have sent some of them, and clients may have
 * unsubscribed from others.
 */
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
        restoring.isCovered(record) &&
        !isReplaced(restoring, record),
    ),
  );
  if (read.length === 0) return undefined;
  const committed = own.commit({ put: read.map((one) => putOf(one, store, now)) });
  const note = ({ rejected = [] }: Committed): void => {
    const bad = new Set(rejected.map(({ typeUrl, name }) => `${typeUrl}\n${name}`));
    for (const { record } of read)
      if (
        store.index.has(record) &&
        !record.answered &&
        !bad.has(`${record.typeUrl}\n${record.name}`)
      )
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

/**
 * Returns true if upstream has sent another variant in the meantime for some of the same clients
 * (S-DYN-4).
 */
function isReplaced({ store, space }: Restoring, record: SnapshotRecord): boolean {
  const others = store.index.typeIndex(space, record.typeUrl).of(record.key);
  return (
    others.length > 1 &&
    others.some(
      (other) =>
        other !== record &&
        other.answered &&
        other.key === record.key &&
        overlap(record.variant, other.variant),
    )
  );
}

/** Returns the records that an interest covers and that have not expired. */
function alive(restoring: Restoring, subscribed: SubscribedInterest): readonly SnapshotRecord[] {
  const now = restoring.store.clock.wallTime();
  return coveredBy(restoring, subscribed).filter(({ expiresAt = Infinity }) => expiresAt > now);
}

function isUnread({ state, answered, restored }: SnapshotRecord): boolean {
  return state === "stored" && !answered && !restored;
}

function putOf({ record, resource }: RestoredRecord, store: SnapshotStore, now: number): Put {
  const { typeUrl, name, expiresAt } = record;
  const as = name !== resource.name && { as: name };
  if (expiresAt === undefined) return { typeUrl, resource, ...as };
  // At most one whole TTL, even if the clock was set back. It is stored, so that the next restart
  // does not extend it either.
  const expireMs = Math.min(expiresAt - now, resource.ttlMs ?? Infinity);
  store.refresh(record, now + expireMs);
  return { typeUrl, resource: { ...resource, expireMs }, ...as };
}

function settle(restoring: Restoring, candidates: readonly SubscribedInterest[]): void {
  const { own, store, space } = restoring;
  const covered = candidates
    .filter(restoring.isOpen)
    .map((one) => [one, alive(restoring, one)] as const);
  const whole = covered.filter(
    ([{ typeUrl, interest, isCollection }, all]) =>
      isCollection &&
      store.collection(space, typeUrl, interest) !== undefined &&
      all.every((record) => record.answered || record.restored),
  );
  if (whole.length > 0)
    void own.commit({
      settled: whole.map(([{ typeUrl, interest }]) =>
        settledAs(store.collection(space, typeUrl, interest), { typeUrl, interest }),
      ),
    });
  const settled = new Set(whole.map(([subscribed]) => subscribed));
  for (const [subscribed, all] of covered) {
    subscribed.isPartial = subscribed.isCollection && !settled.has(subscribed);
    const restored = all.filter((record) => record.restored);
    if (restored.length > 0 || settled.has(subscribed)) mark(restoring, subscribed, restored);
  }
}

/** Adds the reason of upstream to an empty collection. */
function settledAs(
  { error }: Pick<StoredCollection, "error"> = {},
  interest: TypedInterest,
): TypedInterest {
  return error === undefined ? interest : { ...interest, error };
}

function mark(
  restoring: Restoring,
  subscribed: SubscribedInterest,
  restored: readonly SnapshotRecord[],
): void {
  const { own, store, space, isOut } = restoring;
  const { typeUrl, interest } = subscribed;
  const newest = restored.reduce((latest, { storedAt }) => Math.max(latest, storedAt), 0);
  if (subscribed.restoredAt === undefined) restoring.noteServed();
  subscribed.restoredAt = Math.max(newest, store.collection(space, typeUrl, interest)?.at ?? 0);
  if (subscribed.isPartial && !isOut(subscribed)) return;
  const seconds = Math.max(0, Math.round((store.clock.wallTime() - subscribed.restoredAt) / 1_000));
  own.unavailable(
    { typeUrl, interest },
    new XdsError(
      "UNAVAILABLE",
      `from the snapshot of ${new Date(subscribed.restoredAt).toISOString()}, ${seconds} s old; upstream has not answered yet`,
      {
        typeUrl,
        resource: interest.name,
        reason: "restored",
      },
    ),
  );
}
