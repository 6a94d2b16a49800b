import type { Removal, Resource, Transaction, TypedInterest, XdsError } from "@xdstp/core";

import type { CacheEvent } from "./cache-event.ts";
import { coveredRecords } from "./covered-records.ts";
import type { KeptRemovals } from "./kept-removals.ts";
import type { NameRecord, Owner } from "./name-record.ts";
import { idOf, readName, type ReadName, typedKey } from "./read-name.ts";
import type { PlannedPut, TransactionPlan } from "./transaction-plan.ts";
import type { TypeIndex } from "./type-index.ts";
import type { Change, TypeStore } from "./type-store.ts";

/** The parts of the cache that applying a transaction uses. */
export interface ApplyHost {
  readonly types: TypeIndex;
  readonly kept: KeptRemovals;
  readonly tell: (event: CacheEvent) => void;
}

/** Applies the parts of a transaction that passed every check. Watchers are woken later. */
export function applyPlan(
  host: ApplyHost,
  plan: TransactionPlan,
  transaction: Transaction,
  owner: Owner | undefined,
): void {
  const isVariant = ({ put: { typeUrl }, name }: PlannedPut): boolean =>
    name.variant !== undefined || host.types.hasVariants(typeUrl, name.key);
  const variants = plan.puts.filter(isVariant);
  for (const put of plan.puts)
    if (variants.length === 0 || !isVariant(put)) applyPut(host, put, owner);
  for (const { removal, name } of plan.removals) {
    const { typeUrl, error } = removal;
    if (!host.types.isReachable(typeUrl, name)) continue;
    const type = host.types.type(typeUrl);
    if (name.kind === "glob") continue;
    const change = { name, text: removal.name, owner };
    const isAlias =
      type.aliasOf(name.key) !== undefined &&
      type.recordsOf(name.key).every(({ entry }) => entry?.resource === undefined);
    remove(host, typeUrl, change, error);
    if (isAlias) type.endAlias(change, (record) => isPut(plan, typeUrl, record));
  }
  for (const interest of transaction.complete ?? []) {
    for (const record of coveredRecords(
      host.types.type(interest.typeUrl),
      interest.interest,
      owner,
    ))
      removeAbsent(host, interest.typeUrl, record, plan, owner);
  }
  for (const { removal, name } of plan.removals)
    if (name.kind === "glob") removeGlob(host, removal, name);
  // The variants that these replace are removed by now, so that old and new never exist together.
  for (const put of variants) applyPut(host, put, owner);
  for (const interest of transaction.complete ?? []) settle(host, interest, plan, owner);
  for (const interest of transaction.settled ?? []) settle(host, interest, plan, owner);
  host.kept.settle(plan);
}

function remove(host: ApplyHost, typeUrl: string, change: Change, error?: XdsError): void {
  if (!host.kept.keeps(typeUrl, change)) host.types.type(typeUrl).remove(change, error);
}

/** Notes why a glob has no members. One that has members is not removed by its own name. */
function removeGlob(host: ApplyHost, { typeUrl, error }: Removal, name: ReadName): void {
  if (!host.types.isReachable(typeUrl, name)) return;
  const type = host.types.type(typeUrl);
  const group = type.group(name.key);
  const hasMember = group.records.some(({ entry }) => entry?.resource !== undefined);
  if (!hasMember) type.settleGroup(group, { error });
}

function isPut({ named }: TransactionPlan, typeUrl: string, record: NameRecord): boolean {
  const names = named.get(typeUrl);
  const id = idOf(record);
  return names?.has(id) === true && names.get(id) === undefined;
}

function applyPut(
  host: ApplyHost,
  { put, name, text }: PlannedPut,
  owner: Owner | undefined,
): void {
  const type = host.types.type(put.typeUrl);
  const resource = withoutEmpty(withoutAliases(host, put.typeUrl, name, put.resource));
  const wasContested = type.variantsOf(name.key)?.contested === true;
  const isReused = type.put(
    { name, text, owner },
    resource,
    put.as !== undefined && put.as !== put.resource.name,
  );
  if (!wasContested && type.variantsOf(name.key)?.contested === true)
    host.tell({
      kind: "variants-overlap",
      typeUrl: put.typeUrl,
      name: text,
      variants: variantsOf(type, name),
    });
  if (!isReused) return;
  const servedAs = type.find(name)?.entry?.resource?.version ?? "";
  host.tell({
    kind: "version-reused",
    typeUrl: put.typeUrl,
    name: text,
    version: resource.version,
    servedAs,
  });
}

function variantsOf(type: TypeStore, { key }: ReadName): readonly string[] {
  return type
    .recordsOf(key)
    .flatMap(({ entry, variant }) => (entry?.resource === undefined ? [] : (variant?.text ?? "")));
}

/** Removes constraints of zero bytes, which mean the same as none. */
function withoutEmpty(resource: Resource): Resource {
  if (resource.constraints?.length !== 0) return resource;
  const rest: { -readonly [Key in keyof Resource]: Resource[Key] } = { ...resource };
  delete rest.constraints;
  return rest;
}

/** Removes the aliases of an xdstp name: only opaque names have aliases (B-ALIAS-4). */
function withoutAliases(
  host: ApplyHost,
  typeUrl: string,
  { kind }: ReadName,
  resource: Resource,
): Resource {
  if (kind === "opaque" || resource.aliases === undefined || resource.aliases.length === 0)
    return resource;
  host.tell({ kind: "aliases-ignored", typeUrl, name: resource.name });
  return { ...resource, aliases: [] };
}

/**
 * Removes a record that a complete state does not have. A name that is put or rejected in the same
 * transaction stays.
 */
function removeAbsent(
  host: ApplyHost,
  typeUrl: string,
  record: NameRecord,
  plan: TransactionPlan,
  owner: Owner | undefined,
): void {
  if (
    plan.named.get(typeUrl)?.has(idOf(record)) === true ||
    plan.frozen?.has(typedKey(typeUrl, record.key)) === true
  )
    return;
  const text = record.entry?.name ?? record.key;
  const { variant } = record;
  const name = readName(record.key);
  remove(host, typeUrl, { name: variant === undefined ? name : { ...name, variant }, text, owner });
}

function settle(
  host: ApplyHost,
  { typeUrl, interest, timedOut, error }: TypedInterest,
  plan: TransactionPlan,
  owner: Owner | undefined,
): void {
  const name = readName(interest.name);
  if (!host.types.isReachable(typeUrl, name)) return;
  const type = host.types.type(typeUrl);
  if (interest.name === "*") type.settleGroup(type.wildcard);
  else if (name.kind === "glob")
    type.settleGroup(type.group(name.key), { error, wasSaid: timedOut !== true });
  else
    type.settleName({ name, text: interest.name, owner }, plan.named.get(typeUrl)?.get(name.key));
}
