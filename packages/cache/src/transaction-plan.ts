import { XdsError, type Put, type Rejection, type Removal, type Transaction } from "@xdstp/core";

import { idOf, readName, type ReadName, variantOf } from "./read-name.ts";

/** A put with its name read. */
export interface PlannedPut {
  readonly put: Put;
  readonly name: ReadName;
  /** The name under which the resource is cached, as it was given. */
  readonly text: string;
  /** Why the put is rejected. undefined: it is accepted. */
  readonly error: XdsError | undefined;
}

/** A removal with its name read. */
export interface PlannedRemoval {
  readonly removal: Removal;
  readonly name: ReadName;
}

/** A transaction that is checked and not applied yet. */
export interface TransactionPlan {
  /** The puts that passed every check. */
  readonly puts: readonly PlannedPut[];
  readonly removals: readonly PlannedRemoval[];
  readonly rejected: readonly Rejection[];
  /** Names that stay unchanged, since their variants in the transaction are rejected (S-DYN-4). */
  readonly frozen?: ReadonlySet<string>;
  /**
   * The ids of all names in it, by type, each with its error if it was rejected. Empty if the
   * transaction has one name and nothing else, since it is not read then.
   */
  readonly named: ReadonlyMap<string, ReadonlyMap<string, XdsError | undefined>>;
}

/** Returns why a put is rejected. undefined: it is accepted. */
export type RejectPut = (put: Put, name: ReadName, text: string) => XdsError | undefined;

/** Reads and checks a transaction. Throws INVALID_ARGUMENT if a name occurs in it twice (N-40) with the same constraints. */
export function planTransaction(transaction: Transaction, reject: RejectPut): TransactionPlan {
  const { put = NONE, remove = NONE, complete = NONE, settled = NONE } = transaction;
  const removals = remove.map(planRemoval);
  const puts = put.map((one) => planPut(one, reject));
  const isLone = puts.length + removals.length === 1 && complete.length + settled.length === 0;
  const named = isLone ? NOTHING : namesOf(removals, puts);
  const rejected = puts.flatMap(rejectionOf);
  return {
    puts: rejected.length === 0 ? puts : puts.filter(({ error }) => error === undefined),
    removals,
    rejected,
    named,
  };
}

type Named = Map<string, Map<string, XdsError | undefined>>;

const NONE: readonly never[] = [];

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

function namesOf(removals: readonly PlannedRemoval[], puts: readonly PlannedPut[]): Named {
  const named: Named = new Map();
  for (const { removal, name } of removals)
    claim(named, removal.typeUrl, idOf(name), removal.name, undefined);
  for (const {
    put: { typeUrl },
    name,
    text,
    error,
  } of puts)
    claim(named, typeUrl, idOf(name), text, error);
  return named;
}

function planRemoval(removal: Removal): PlannedRemoval {
  return { removal, name: variantOf(readName(removal.name), removal.constraints) };
}

function planPut(put: Put, reject: RejectPut): PlannedPut {
  const text = put.as ?? put.resource.name;
  const name = variantOf(readName(text), put.resource.constraints);
  return { put, name, text, error: reject(put, name, text) };
}

function rejectionOf({ put: { typeUrl }, text, error }: PlannedPut): readonly Rejection[] {
  return error === undefined ? NONE : [{ typeUrl, name: text, error }];
}

function claim(
  named: Named,
  typeUrl: string,
  key: string,
  text: string,
  error: XdsError | undefined,
): void {
  let keys = named.get(typeUrl);
  if (keys === undefined) named.set(typeUrl, (keys = new Map<string, XdsError | undefined>()));
  const before = keys.size;
  keys.set(key, error);
  if (keys.size === before) {
    const rule =
      "a transaction holds a name, or a variant of it, at most once, in put or in remove; leave one of them out";
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(text)} of ${typeUrl} occurs twice: ${rule}`,
      { typeUrl, resource: text },
    );
  }
}
