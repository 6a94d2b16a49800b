import {
  conflictOf,
  XdsError,
  type Constraints,
  type Rejection,
  type Transaction,
} from "@xdstp/core";

import { coveredRecords } from "../covered-records.ts";
import type { NameRecord, Owner } from "../name-record.ts";
import { idOf, typedKey } from "../read-name.ts";
import type { PlannedPut, TransactionPlan } from "../transaction-plan.ts";
import type { TypeIndex } from "../type-index.ts";
import type { TypeStore } from "../type-store.ts";
import { EVERYONE } from "./variant-set.ts";

/**
 * Removes the names from a transaction that would get variants which do not constrain the same keys
 * or do not exclude each other (S-DYN-4). All changes of such a name are removed, its removals too,
 * so that the cached variants stay unchanged.
 * Variants for which that cannot be determined in reasonable time are accepted: a reader that
 * matches several is sent none (S-DYN-8).
 */
export function rejectVariants(
  plan: TransactionPlan,
  transaction: Transaction,
  types: TypeIndex,
  owner: Owner | undefined,
): TransactionPlan {
  if (
    !plan.puts.some(
      ({ put: { typeUrl }, name }) =>
        name.variant !== undefined || types.hasVariants(typeUrl, name.key),
    )
  )
    return plan;
  const rejected: Rejection[] = [];
  const frozen = new Set<string>();
  const isGone = removedBy(plan, transaction, types, owner);
  for (const [id, puts] of concerned(plan, types)) {
    const error = faultOf(puts, types, isGone);
    if (error === undefined) continue;
    frozen.add(id);
    for (const {
      put: { typeUrl },
      text,
    } of puts)
      rejected.push({ typeUrl, name: text, error }); // `push(...puts)` may exceed the number of arguments of a call
  }
  if (frozen.size === 0) return plan;
  return {
    ...plan,
    puts: plan.puts.filter(
      ({ put: { typeUrl }, name }) => !frozen.has(typedKey(typeUrl, name.key)),
    ),
    removals: plan.removals.filter(
      ({ removal: { typeUrl }, name }) => !frozen.has(typedKey(typeUrl, name.key)),
    ),
    rejected: [...plan.rejected, ...rejected],
    frozen,
  };
}

/** Returns the puts of names that have variants, or would have. */
function concerned(
  { puts }: TransactionPlan,
  types: TypeIndex,
): ReadonlyMap<string, readonly PlannedPut[]> {
  const names = new Set<string>();
  for (const {
    put: { typeUrl },
    name,
  } of puts)
    if (name.variant !== undefined || types.hasVariants(typeUrl, name.key))
      names.add(typedKey(typeUrl, name.key));
  const found = new Map<string, PlannedPut[]>();
  if (names.size === 0) return found;
  for (const planned of puts) {
    const id = typedKey(planned.put.typeUrl, planned.name.key);
    const same = found.get(id);
    if (same !== undefined) same.push(planned);
    else if (names.has(id)) found.set(id, [planned]);
  }
  return found;
}

interface Row {
  readonly constraints: Constraints;
  readonly isNew: boolean;
}

function faultOf(
  puts: readonly PlannedPut[],
  types: TypeIndex,
  isGone: IsGone,
): XdsError | undefined {
  const [
    {
      put: { typeUrl },
      text,
      name: { key },
    },
  ] = puts as readonly [PlannedPut, ...PlannedPut[]];
  const rows = rowsAfter(types.type(typeUrl), key, puts, (record) => isGone(typeUrl, record));
  for (const [index, row] of rows.entries()) {
    if (!row.isNew) continue;
    for (const [at, other] of rows.entries()) {
      const fault =
        at === index || (other.isNew && at < index)
          ? undefined
          : conflictOf(other.constraints, row.constraints);
      if (fault !== undefined)
        return new XdsError("INVALID_ARGUMENT", `${JSON.stringify(text)} of ${typeUrl}: ${fault}`, {
          typeUrl,
          resource: text,
          rule: "S-DYN-4",
        });
    }
  }
  return undefined;
}

/** Returns the variants that a name would have. */
function rowsAfter(
  type: TypeStore,
  key: string,
  puts: readonly PlannedPut[],
  isGone: (record: NameRecord) => boolean,
): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const record of type.recordsOf(key))
    if (record.entry?.resource !== undefined && !isGone(record))
      rows.set(idOf(record), rowOf(record, false));
  for (const { name } of puts) if (!rows.has(idOf(name))) rows.set(idOf(name), rowOf(name, true));
  return [...rows.values()];
}

function rowOf({ variant }: Pick<NameRecord, "variant">, isNew: boolean): Row {
  return { constraints: variant?.constraints ?? EVERYONE, isNew };
}

/**
 * Returns true if a transaction removes a record of a type, or leaves it out of what it declares
 * complete.
 */
type IsGone = (typeUrl: string, record: NameRecord) => boolean;

/** Creates that function. The transaction is read once, whatever the number of names. */
function removedBy(
  { removals, named }: TransactionPlan,
  { complete = [] }: Transaction,
  types: TypeIndex,
  owner: Owner | undefined,
): IsGone {
  const removed = new Set(
    removals.map(({ removal: { typeUrl }, name }) => typedKey(typeUrl, idOf(name))),
  );
  const absent = new Set(
    complete.flatMap(({ typeUrl, interest }) =>
      coveredRecords(types.type(typeUrl), interest, owner),
    ),
  );
  return (typeUrl, record) =>
    removed.has(typedKey(typeUrl, idOf(record))) ||
    (absent.has(record) && named.get(typeUrl)?.has(idOf(record)) !== true);
}
