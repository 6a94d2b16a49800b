import {
  type Put,
  type Rejection,
  type Resource,
  type ResourceSink,
  type Scope,
  type Transaction,
  XdsError,
} from "@xdstp/core";

/** A sink that records what a feed supplies, of one type. */
export interface RecordedSink {
  readonly sink: ResourceSink;
  /** The number of transactions. */
  readonly commits: number;
  /** The transactions of which a resource was rejected, oldest first. */
  readonly rejected: readonly Transaction[];
  /** The forbidden actions of the feed, a sentence for each. */
  readonly violations: readonly string[];
  /** Set it to reject resources. */
  rejects: (name: string, resource: Resource) => boolean;
  /** Set it when `run` has ended. */
  isOver: boolean;
  /** Returns the accepted resource of a name. */
  get(name: string): Resource | undefined;
  /** Returns all resources that were put under a name, oldest first, with those that were rejected. */
  history(name: string): readonly Resource[];
  /** Returns true if the feed has said that a name does not exist. */
  isMissing(name: string): boolean;
  /**
   * Returns the names that were cached when the feed first said that all members of an interest are
   * known. `undefined`: it has not said so.
   */
  settledWith(interest: string): readonly string[] | undefined;
  /** Returns why a name cannot be fetched for now. */
  outage(name: string): XdsError | undefined;
}

/**
 * Creates a sink without resources.
 *
 * @param suppliesAll - True for a feed without `want`: with its first transaction, all is known
 * @param notify - Called after each call of the feed
 */
export function recordSink(
  typeUrl: string,
  suppliesAll: boolean,
  notify: () => void,
): RecordedSink {
  const accepted = new Map<string, Resource>();
  const history = new Map<string, Resource[]>();
  const removed = new Set<string>();
  const settled = new Map<string, readonly string[]>();
  const outages = new Set<{ readonly scope: Scope; readonly error: XdsError }>();
  const violations: string[] = [];
  const rejected: Transaction[] = [];
  let commits = 0;

  const judge = (put: Put): Rejection | undefined => {
    const name = nameOf(put);
    if (put.typeUrl !== typeUrl) return undefined;
    history.set(name, [...(history.get(name) ?? []), put.resource]);
    if (!record.rejects(name, put.resource)) return undefined;
    const error = new XdsError("INVALID_ARGUMENT", "a test rejects it", { resource: name });
    return { typeUrl, name, error };
  };
  const apply = (transaction: Transaction, rejects: ReadonlySet<string>): void => {
    const { put = [], remove = [], complete = [] } = transaction;
    const given = new Set<string>();
    for (const each of put) {
      const name = nameOf(each);
      given.add(name);
      if (each.typeUrl !== typeUrl || rejects.has(name)) continue;
      accepted.set(name, each.resource);
      removed.delete(name);
    }
    for (const each of remove)
      if (each.typeUrl === typeUrl) {
        accepted.delete(each.name);
        removed.add(each.name);
      }
    for (const { typeUrl: type, interest } of complete)
      for (const name of type === typeUrl ? [...accepted.keys()] : [])
        if (covers(interest.name, name) && !given.has(name)) accepted.delete(name);
    for (const each of [...complete, ...(transaction.settled ?? [])])
      if (each.typeUrl === typeUrl && !settled.has(each.interest.name))
        settled.set(each.interest.name, [...accepted.keys()]);
  };
  const sink: ResourceSink = {
    commit: (transaction) => {
      commits++;
      if (record.isOver) violations.push("commit() is called after run() has ended");
      const twice = repeatedName(transaction);
      if (twice !== undefined)
        violations.push(`a transaction has the name ${twice} more than once`);
      const rejections = (transaction.put ?? []).flatMap((put) => judge(put) ?? []);
      if (rejections.length > 0) rejected.push(transaction);
      if (rejections.length === 0 || transaction.atomic !== true)
        apply(transaction, new Set(rejections.map(({ name }) => name)));
      notify();
      return { revision: commits, ...(rejections.length > 0 && { rejected: rejections }) };
    },
    held: (type, interest) =>
      Array.from(type === typeUrl ? accepted : [])
        .filter(([name]) => interest === undefined || covers(interest.name, name))
        .map(([name, { version }]) => ({ name, version })),
    unavailable: (scope, error) => {
      if (record.isOver) violations.push("unavailable() is called after run() has ended");
      // The end of an outage also ends the narrower ones.
      for (const outage of outages) if (isWithin(outage.scope, scope)) outages.delete(outage);
      if (error !== undefined) outages.add({ scope, error });
      notify();
    },
  };
  const record: RecordedSink = {
    sink,
    rejected,
    violations,
    rejects: () => false,
    isOver: false,
    get commits() {
      return commits;
    },
    get: (name) => accepted.get(name),
    history: (name) => history.get(name) ?? [],
    settledWith: (interest) => settled.get(interest),
    isMissing: (name) =>
      !accepted.has(name) &&
      (removed.has(name) ||
        (suppliesAll && commits > 0) ||
        settled.keys().some((interest) => covers(interest, name))),
    outage: (name) => outages.values().find(({ scope }) => concerns(scope, typeUrl, name))?.error,
  };
  return record;
}

const nameOf = ({ as, resource }: Put): string => as ?? resource.name;

/** Returns the first name that a transaction has twice. Variants of a name (TP2) are different names. */
function repeatedName({ put = [], remove = [] }: Transaction): string | undefined {
  const seen = new Set<string>();
  const names = [
    ...put.map((each) => [each.typeUrl, nameOf(each), each.resource.constraints] as const),
    ...remove.map((each) => [each.typeUrl, each.name, each.constraints] as const),
  ];
  for (const [typeUrl, name, constraints = []] of names) {
    const key = JSON.stringify([typeUrl, name, Array.from(constraints)]);
    if (seen.has(key)) return name;
    seen.add(key);
  }
  return undefined;
}

/** Returns true if an interest is `*`, a glob over the name, or the name. */
function covers(interest: string, name: string): boolean {
  if (interest === "*" || interest === name) return true;
  const start = interest.endsWith("/*") ? interest.slice(0, -1) : undefined;
  return start !== undefined && name.startsWith(start) && !name.slice(start.length).includes("/");
}

function isWithin(inner: Scope, outer: Scope): boolean {
  const { typeUrl = inner.typeUrl, interest = inner.interest, authority = inner.authority } = outer;
  return (
    inner.typeUrl === typeUrl &&
    inner.authority === authority &&
    inner.interest?.name === interest?.name
  );
}

/** Returns true if a name is in a scope. */
function concerns(scope: Scope, typeUrl: string, name: string): boolean {
  const { typeUrl: type = typeUrl, interest, authority } = scope;
  if (type !== typeUrl || (interest !== undefined && !covers(interest.name, name))) return false;
  if (authority === undefined) return true;
  return authority === null ? !name.startsWith("xdstp:") : name.startsWith(`xdstp://${authority}/`);
}
