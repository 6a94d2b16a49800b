import { keepResource } from "@xdstp/cache";
import {
  interestKey,
  type Committed,
  type Put,
  type Removal,
  type ResourceSink,
  type StoredResource,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { createRecord, readVariant, recordId, type SnapshotRecord } from "./record.ts";
import { coveredBy } from "./restore.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { Wanted, WantedBook } from "./wanted-book.ts";

/** What noting asks of its keeper. */
export interface Noting {
  readonly store: SnapshotStore;
  readonly space: string;
  readonly wanted: WantedBook;
  /** Where it was put. */
  readonly sink: ResourceSink;
  readonly inWildcard: (name: string) => boolean;
  /** Some upstream has given it, and it has not gone. */
  readonly isHeld: (record: SnapshotRecord) => boolean;
  /** These have gone: out of the snapshot, and where they were served from it. */
  readonly remove: (gone: readonly SnapshotRecord[]) => void;
  /** Upstream has answered this. */
  readonly say: (wanted: Wanted) => void;
}

/** Writes to the snapshot what upstream has said and the cache has taken, and lets go of what was served from it in its place. */
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
    if (record?.said === true) noting.store.refresh(record, expiryOf(noting, expireMs));
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
  const { store, space, wanted, sink } = noting;
  // Its version is that of what is held: an answer that took its time may be older than that.
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
  // Of what was rejected the state before stays, and upstream has it.
  if (record === undefined)
    for (const before of store.index.shelf(space, typeUrl).of(key)) before.said = true;
  else ids?.add(`${typeUrl}\n${recordId(record)}`);
  for (const one of wanted.of(typeUrl, key)) noting.say(one);
  for (const alias of resource.aliases ?? [])
    for (const one of wanted.of(typeUrl, nameKey(alias))) noting.say(one);
}

/** As the cache keeps it: bytes that stay. undefined: it has gone again, since the answer took its time. */
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
  const { store, space, wanted } = noting;
  const key = nameKey(name);
  const own = find(noting, typeUrl, name, constraints);
  const left =
    constraints === undefined
      ? store.index
          .shelf(space, typeUrl)
          .of(key)
          .filter(
            (record) =>
              record !== own && !record.said && (record.restored || isByAlias(record, key)),
          )
      : [];
  if (own !== undefined) store.remove(own);
  if (left.length > 0) noting.remove(left);
  for (const one of wanted.of(typeUrl, key)) noting.say(one);
}

/** It is of an alias that has gone, and out of date though it was not served: after a restart it would bring the alias back. A variant may be for others than those who were told. */
function isByAlias(record: SnapshotRecord, key: string): boolean {
  return record.key !== key && record.variant === undefined;
}

/** @param ids - What has been put next to it, and nothing else is there; absent: it came before */
function noteWhole(
  noting: Noting,
  { typeUrl, interest, error }: TypedInterest,
  ids: ReadonlySet<string> | undefined,
): void {
  const { store, space, wanted } = noting;
  const gone = coveredBy(noting, { typeUrl, interest }).filter(
    (record) =>
      !record.said ||
      (ids !== undefined && !ids.has(`${typeUrl}\n${recordId(record)}`) && !noting.isHeld(record)),
  );
  noting.remove(gone);
  const key = nameKey(interest.name);
  for (const one of wanted.of(typeUrl, key))
    if (interestKey(one.interest, key) === interestKey(interest, key)) {
      if (one.isCollection)
        store.settle({ space, typeUrl, interest, ...(error !== undefined && { error }) });
      noting.say(one);
    }
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
