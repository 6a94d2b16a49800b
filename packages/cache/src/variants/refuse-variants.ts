import { conflictOf, XdsError, type Constraints, type Refusal, type Transaction } from "@xdstp/core";

import { coveredRecords } from "../covered-records.ts";
import type { NameRecord, Owner } from "../name-record.ts";
import type { PlannedPut, TransactionPlan } from "../transaction-plan.ts";
import type { TypeIndex } from "../type-index.ts";
import type { TypeStore } from "../type-store.ts";
import { idOf } from "./variant.ts";
import { EVERYONE } from "./variant-set.ts";

/**
 * Leaves out of a transaction what would give a name variants that do not constrain the same keys or do not exclude each other (S-DYN-4): all that it says of that name, removals too, so that what is held stays as it is.
 * What cannot be decided in reasonable time is taken: no reader is given one of several (S-DYN-8).
 */
export function refuseVariants(plan: TransactionPlan, transaction: Transaction, types: TypeIndex, owner: Owner | undefined): TransactionPlan {
  if (!plan.puts.some(({ put: { typeUrl }, name }) => name.variant !== undefined || types.hasVariants(typeUrl, name.key))) return plan;
  const refused: Refusal[] = [];
  const frozen = new Set<string>();
  for (const [id, puts] of concerned(plan, types)) {
    const error = faultOf(puts, plan, transaction, types, owner);
    if (error === undefined) continue;
    frozen.add(id);
    for (const { put: { typeUrl }, text } of puts) refused.push({ typeUrl, name: text, error }); // may be more than a call has arguments
  }
  if (frozen.size === 0) return plan;
  return {
    ...plan,
    puts: plan.puts.filter(({ put: { typeUrl }, name }) => !frozen.has(frozenId(typeUrl, name.key))),
    removals: plan.removals.filter(({ removal: { typeUrl }, name }) => !frozen.has(frozenId(typeUrl, name.key))),
    refused: [...plan.refused, ...refused],
    frozen,
  };
}

/** The key of a name in {@link TransactionPlan.frozen}. */
export function frozenId(typeUrl: string, key: string): string {
  return `${typeUrl} ${key}`;
}

/** The puts of names that have variants, or would have. */
function concerned({ puts }: TransactionPlan, types: TypeIndex): ReadonlyMap<string, readonly PlannedPut[]> {
  const names = new Set<string>();
  for (const { put: { typeUrl }, name } of puts) if (name.variant !== undefined || types.hasVariants(typeUrl, name.key)) names.add(frozenId(typeUrl, name.key));
  const found = new Map<string, PlannedPut[]>();
  if (names.size === 0) return found;
  for (const planned of puts) {
    const id = frozenId(planned.put.typeUrl, planned.name.key);
    if (names.has(id)) found.set(id, [...(found.get(id) ?? []), planned]);
  }
  return found;
}

interface Row {
  readonly constraints: Constraints;
  readonly isNew: boolean;
}

function faultOf(puts: readonly PlannedPut[], plan: TransactionPlan, transaction: Transaction, types: TypeIndex, owner: Owner | undefined): XdsError | undefined {
  const [{ put: { typeUrl }, text, name: { key } }] = puts as readonly [PlannedPut, ...PlannedPut[]];
  const rows = rowsAfter(types.type(typeUrl), key, puts, (record) => isRemoved(record, typeUrl, plan, transaction, types, owner));
  for (const [index, row] of rows.entries()) {
    if (!row.isNew) continue;
    for (const [at, other] of rows.entries()) {
      const fault = at === index || (other.isNew && at < index) ? undefined : conflictOf(other.constraints, row.constraints);
      if (fault !== undefined) return new XdsError("INVALID_ARGUMENT", `${JSON.stringify(text)} of ${typeUrl}: ${fault}`, { typeUrl, resource: text });
    }
  }
  return undefined;
}

/** The variants of a name as they would be. */
function rowsAfter(type: TypeStore, key: string, puts: readonly PlannedPut[], isGone: (record: NameRecord) => boolean): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const record of type.recordsOf(key)) if (record.entry?.resource !== undefined && !isGone(record)) rows.set(idOf(record), rowOf(record, false));
  for (const { name } of puts) if (!rows.has(idOf(name))) rows.set(idOf(name), rowOf(name, true));
  return [...rows.values()];
}

function rowOf({ variant }: Pick<NameRecord, "variant">, isNew: boolean): Row {
  return { constraints: variant?.constraints ?? EVERYONE, isNew };
}

function isRemoved(record: NameRecord, typeUrl: string, plan: TransactionPlan, { complete = [] }: Transaction, types: TypeIndex, owner: Owner | undefined): boolean {
  const id = idOf(record);
  if (plan.removals.some(({ removal, name }) => removal.typeUrl === typeUrl && idOf(name) === id)) return true;
  return complete.some((one) => one.typeUrl === typeUrl && coveredRecords(types.type(typeUrl), one.interest, owner).includes(record)) && plan.named.get(typeUrl)?.has(id) !== true;
}
