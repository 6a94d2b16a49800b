import { keepResource } from "@xdstp/cache";
import {
  type Committed,
  type Put,
  type Removal,
  type ResourceSink,
  type StoredResource,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { createRecord, readVariant, recordId, type SnapshotRecord, overlap } from "./record.ts";
import { coveredBy } from "./restore.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { SubscribedInterest, SubscribedInterests } from "./subscribed.ts";

/** The parts of a keeper that {@link noteTransaction} uses. */
export interface Noting {
  readonly store: SnapshotStore;
  readonly space: string;
  readonly subscribed: SubscribedInterests;
  /** The sink that has committed the transaction. */
  readonly sink: ResourceSink;
  readonly inWildcard: (name: string) => boolean;
  /** Returns true if a server upstream has sent the record and not removed it. */
  readonly isHeld: (record: SnapshotRecord) => boolean;
  /** Removes records from the snapshot, and from the cache if they were restored. */
  readonly remove: (gone: readonly SnapshotRecord[]) => void;
  /** Called when upstream has answered an interest. */
  readonly noteAnswer: (subscribed: SubscribedInterest) => void;
}

/**
 * Writes the resources that upstream has sent and the cache has accepted to the snapshot, and
 * removes the restored resources that they replace.
 */
export function noteTransaction(
  noting: Noting,
  transaction: Transaction,
  { rejected = [] }: Committed,
  doubtful: ReadonlySet<Removal | TypedInterest>,
): void {
  const { put = [], remove = [], refresh = [], complete = [], settled = [], atomic } = transaction;
  const bad = new Set(rejected.map(({ typeUrl, name }) => `${typeUrl}\n${name}`));
  if (atomic === true && bad.size > 0) return;
  const ids = new Set<string>();
  for (const one of put) notePut(noting, one, bad, complete.length > 0 ? ids : undefined);
  for (const one of remove) if (!doubtful.has(one)) noteRemoval(noting, one);
  for (const { typeUrl, name, constraints, expireMs } of refresh) {
    const record = find(noting, typeUrl, name, constraints);
    if (record?.answered === true) noting.store.refresh(record, expiryOf(noting, expireMs));
  }
  for (const one of complete) noteWhole(noting, one, ids);
  for (const one of settled) if (!doubtful.has(one)) noteWhole(noting, one, undefined);
}

function notePut(
  noting: Noting,
  { typeUrl, resource, as: name = resource.name }: Put,
  bad: ReadonlySet<string>,
  ids: Set<string> | undefined,
): void {
  const { store, space, subscribed, sink } = noting;
  // Uses the version of the cached resource, since a late decision may belong to an older one.
  const held =
    bad.size > 0 && bad.has(`${typeUrl}\n${name}`)
      ? undefined
      : storedOf(sink, typeUrl, name, resource);
  const record =
    held &&
    store.put(
      {
        space,
        typeUrl,
        name,
        constraints: constraintsOf(resource.constraints),
        version: resource.version && held.given,
        expiresAt: expiryOf(noting, resource.expireMs),
      },
      held,
    );
  const key = record?.key ?? nameKey(name);
  // The state before a rejected one stays, and upstream has sent it.
  if (record === undefined)
    for (const before of store.index.typeIndex(space, typeUrl).of(key)) before.answered = true;
  else ids?.add(`${typeUrl}\n${recordId(record)}`);
  for (const one of subscribed.ofName(typeUrl, key)) noting.noteAnswer(one);
  for (const alias of resource.aliases ?? [])
    for (const one of subscribed.ofName(typeUrl, nameKey(alias))) noting.noteAnswer(one);
}

/**
 * Returns the cached resource, with bytes that do not change. Returns `undefined` if it was removed
 * while the commit was pending.
 */
function storedOf(
  sink: ResourceSink,
  typeUrl: string,
  name: string,
  resource: Put["resource"],
): StoredResource | undefined {
  const { constraints } = resource;
  const text =
    constraintsOf(constraints) === undefined ? undefined : readVariant(constraints)?.text;
  for (const held of sink.held(typeUrl, { name }))
    if (readVariant(held.constraints)?.text === text)
      return held.resource ?? keepResource(resource);
  return undefined;
}

function noteRemoval(noting: Noting, { typeUrl, name, constraints }: Removal): void {
  const { store, space, subscribed } = noting;
  const key = nameKey(name);
  const own = find(noting, typeUrl, name, constraints);
  const left =
    constraints === undefined
      ? store.index
          .typeIndex(space, typeUrl)
          .of(key)
          .filter(
            (record) =>
              record !== own && !record.answered && (record.restored || isByAlias(record, key)),
          )
      : [];
  if (own !== undefined) store.remove(own);
  if (left.length > 0) noting.remove(left);
  for (const one of subscribed.ofName(typeUrl, key)) noting.noteAnswer(one);
}

/**
 * Returns true if the removed name was an alias of this record. Then the record is out of date even
 * if it was not served: after a restart it would restore the alias. A variant may be for other
 * clients, so it stays.
 */
function isByAlias(record: SnapshotRecord, key: string): boolean {
  return record.key !== key && record.variant === undefined;
}

/**
 * @param ids - Ids of all members, which are in the same transaction. `undefined`: the members
 * arrived earlier
 */
function noteWhole(
  noting: Noting,
  { typeUrl, interest, error }: TypedInterest,
  ids: ReadonlySet<string> | undefined,
): void {
  const { store, space, subscribed } = noting;
  const gone = coveredBy(noting, { typeUrl, interest }).filter(
    (record) =>
      !record.answered ||
      (ids !== undefined && !ids.has(`${typeUrl}\n${recordId(record)}`) && !noting.isHeld(record)),
  );
  noting.remove(gone);
  const one = subscribed.find(typeUrl, interest);
  if (one === undefined) return;
  if (one.isCollection)
    store.settle({ space, typeUrl, interest, ...(error !== undefined && { error }) });
  noting.noteAnswer(one);
}

function find(
  { store, space }: Noting,
  typeUrl: string,
  name: string,
  constraints: Uint8Array | undefined,
): SnapshotRecord | undefined {
  return store.index.find(
    createRecord({ space, typeUrl, name, constraints: constraintsOf(constraints) }),
  );
}

function constraintsOf(constraints: Uint8Array | undefined): Uint8Array | undefined {
  return constraints?.length === 0 ? undefined : constraints;
}

function expiryOf({ store }: Noting, expireMs: number | undefined): number | undefined {
  return expireMs === undefined ? undefined : store.clock.wallTime() + expireMs;
}

/** Removes restored variants before upstream puts another variant for some of the same clients, since both must not exist at once (S-DYN-4). */
export function makeRoom({ store, space, remove }: Noting, { put = [] }: Transaction): void {
  const replaced = put.flatMap(({ typeUrl, resource, as = resource.name }) => {
    const restored = store.index
      .typeIndex(space, typeUrl)
      .of(nameKey(as))
      .filter((record) => record.restored && !record.answered && record.key === nameKey(as));
    if (restored.length === 0) return [];
    const variant = readVariant(resource.constraints);
    return restored.filter(
      (record) => record.variant?.text !== variant?.text && overlap(record.variant, variant),
    );
  });
  if (replaced.length > 0) remove(replaced);
}
