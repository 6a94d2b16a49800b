import type { Committed, Resource, ResourceSink, Scope, Transaction, XdsError } from "@xdstp/core";

/** A simple cache that records all transactions and outages. */
export interface RecordingSink extends ResourceSink {
  readonly transactions: readonly Transaction[];
  /** The newest outage, or `undefined` if it has ended. */
  readonly outage: XdsError | undefined;
  readonly outages: readonly (readonly [Scope, XdsError | undefined])[];
  /** Returns the names of a type, sorted. */
  names(typeUrl: string): readonly string[];
  resource(typeUrl: string, name: string): Resource | undefined;
}

/** Creates a sink that accepts everything, except names for which `reject` returns an error. */
export function createRecordingSink(
  reject: (name: string) => XdsError | undefined = () => undefined,
): RecordingSink {
  const transactions: Transaction[] = [];
  const outages: (readonly [Scope, XdsError | undefined])[] = [];
  const types = new Map<string, Map<string, Resource>>();
  const of = (typeUrl: string): Map<string, Resource> =>
    types.get(typeUrl) ?? types.set(typeUrl, new Map()).get(typeUrl) ?? new Map<string, Resource>();
  const commit = (transaction: Transaction): Committed => {
    const { put = [], remove = [] } = transaction;
    const rejected = put.flatMap(({ typeUrl, resource }) => {
      const error = reject(resource.name);
      return error === undefined ? [] : [{ typeUrl, name: resource.name, error }];
    });
    if (rejected.length > 0) return { revision: transactions.length, rejected };
    for (const { typeUrl, name } of remove) of(typeUrl).delete(name);
    for (const { typeUrl, resource } of put) of(typeUrl).set(resource.name, resource);
    return { revision: transactions.push(transaction) };
  };
  return {
    transactions,
    outages,
    get outage() {
      return outages.at(-1)?.[1];
    },
    commit,
    held: (typeUrl) => [...of(typeUrl).values()],
    unavailable: (scope, error) => {
      outages.push([scope, error]);
    },
    names: (typeUrl) => [...of(typeUrl).keys()].sort(),
    resource: (typeUrl, name) => of(typeUrl).get(name),
  };
}
