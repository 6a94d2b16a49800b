import { XdsError, type Transaction, type TypedInterest } from "@xdstp/core";
import { collectionTypeOf, isGlob, typeOf, typeUrlFromType } from "@xdstp/uri";

/** The type under which a resource of this name is kept: a list collection under its own, also if it is put or asked for under that of its members (B-TYPE-6). */
export function homeType(typeUrl: string, name: string): string {
  if (!name.startsWith("xdstp:") || !name.includes("Collection")) return typeUrl;
  const type = typeOf(name);
  const collection = collectionTypeOf(typeUrl);
  return type !== undefined && typeUrlFromType(type) === collection && !isGlob(name)
    ? collection
    : typeUrl;
}

/** The same transaction with every name under its home type. */
export function atHome(transaction: Transaction): Transaction {
  const { put = NONE, remove = NONE, complete = NONE, settled = NONE } = transaction;
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

/** TypeScript requires them; a program in JavaScript may leave them out. */
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
