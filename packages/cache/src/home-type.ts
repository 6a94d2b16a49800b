import {
  XdsError,
  type Put,
  type Removal,
  type Resource,
  type Transaction,
  type TypedInterest,
} from "@xdstp/core";
import { collectionTypeOf, isGlob, typeOf, typeUrlFromType } from "@xdstp/uri";

/**
 * Returns the type under which a resource of this name is cached. A list collection is cached under
 * its own type, even if it is put or requested under the type of its members (B-TYPE-6).
 */
export function homeType(typeUrl: string, name: string): string {
  if (!name.startsWith("xdstp:") || !name.includes("Collection")) return typeUrl;
  const type = typeOf(name);
  const collection = collectionTypeOf(typeUrl);
  return type !== undefined && typeUrlFromType(type) === collection && !isGlob(name)
    ? collection
    : typeUrl;
}

/** Returns the transaction with every name under its home type. */
export function atHome(transaction: Transaction): Transaction {
  const { put = NONE, remove = NONE, complete = NONE, settled = NONE } = transaction;
  requirePuts(put);
  requireNames(remove);
  requireInterests(complete, "complete");
  requireInterests(settled, "settled");
  const moves =
    put.some((one) => isAway(one.typeUrl, one.as ?? one.resource.name)) ||
    remove.some((one) => isAway(one.typeUrl, one.name)) ||
    complete.some((one) => isAway(one.typeUrl, one.interest.name)) ||
    settled.some((one) => isAway(one.typeUrl, one.interest.name));
  if (!moves) return transaction;
  return {
    ...transaction,
    put: put.map((one) => ({
      ...one,
      typeUrl: homeType(one.typeUrl, one.as ?? one.resource.name),
    })),
    remove: remove.map((one) => ({ ...one, typeUrl: homeType(one.typeUrl, one.name) })),
    complete: complete.map((one) => ({
      ...one,
      typeUrl: homeType(one.typeUrl, one.interest.name),
    })),
    settled: settled.map((one) => ({ ...one, typeUrl: homeType(one.typeUrl, one.interest.name) })),
  };
}

/** TypeScript requires these members, but a program in JavaScript may leave them out. */
function requirePuts(puts: readonly Put[]): void {
  const at = puts.findIndex(
    ({ resource }: { readonly resource?: Partial<Resource> }) =>
      typeof resource?.name !== "string" || resource.payload === undefined,
  );
  if (at === -1) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `put[${at}] of the transaction has no resource with a name and a payload; give it { typeUrl, resource: { name, version, payload: { typeUrl, value } } }`,
    { typeUrl: puts[at]?.typeUrl ?? "" },
  );
}

function requireNames(removals: readonly Removal[]): void {
  const at = removals.findIndex(({ name }: Partial<Removal>) => typeof name !== "string");
  if (at === -1) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `remove[${at}] of the transaction has no name; give it { typeUrl, name }`,
    { typeUrl: removals[at]?.typeUrl ?? "" },
  );
}

function requireInterests(interests: readonly Partial<TypedInterest>[], field: string): void {
  const at = interests.findIndex(({ interest }) => typeof interest?.name !== "string");
  if (at === -1) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `${field}[${at}] of the transaction has no interest.name; give it a name, a glob, or "*": { typeUrl, interest: { name: "*" } }`,
    { typeUrl: interests[at]?.typeUrl ?? "" },
  );
}

const NONE: readonly never[] = [];

function isAway(typeUrl: string, name: string): boolean {
  return homeType(typeUrl, name) !== typeUrl;
}
