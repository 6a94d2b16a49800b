import type { Interest } from "./resource.ts";

/** The values of one type. */
interface OfType<T> {
  /**
   * All values, by name and parameters. Each is in an array of its own, so that `ofName` does not
   * allocate.
   */
  readonly all: Map<string, readonly [T]>;
  /**
   * The few values whose interest has parameters or a line break in its name: by name, and then as
   * in `all`.
   */
  readonly located: Map<string, Map<string, T>>;
}

const NONE: readonly never[] = [];

/**
 * A map from the interests of several types to values: finds subscriptions by interest and by name.
 *
 * A name is given by a key. With the canonical string of a name as key (`nameKey` of `@xdstp/uri`),
 * equal names are one; with the name as it is spelled, each spelling is another name.
 * The cost of a call does not depend on the number of interests; `ofName` and `covering` cost as
 * much as they return.
 *
 * ```ts
 * const subscribed = new InterestMap<Subscription>();
 * subscribed.set(typeUrl, interest, nameKey(interest.name), subscription);
 * subscribed.covering(typeUrl, nameKey(name), globOf(name)); // those of the name, its glob and `*`
 * ```
 */
export class InterestMap<T> implements Iterable<T> {
  readonly #types = new Map<string, OfType<T>>();
  #size = 0;

  /** Number of interests, of all types. */
  get size(): number {
    return this.#size;
  }

  /**
   * Yields all values by type; those of one type in the order in which their interests were set.
   */
  *[Symbol.iterator](): Generator<T> {
    for (const typeUrl of this.#types.keys()) yield* this.ofType(typeUrl);
  }

  /** Returns the types that have an interest. */
  types(): Iterable<string> {
    return this.#types.keys();
  }

  /** Yields the values of a type in the order in which their interests were set. */
  *ofType(typeUrl: string): Generator<T> {
    for (const [value] of this.#types.get(typeUrl)?.all.values() ?? NONE) yield value;
  }

  /**
   * Returns the value of an interest with exactly these parameters. undefined: the interest is not
   * in the map.
   */
  get(typeUrl: string, interest: Interest, key: string): T | undefined {
    return this.#types.get(typeUrl)?.all.get(interestKey(interest, key))?.[0];
  }

  /**
   * Sets the value of an interest. An interest that is already there keeps its place in the order.
   */
  set(typeUrl: string, interest: Interest, key: string, value: T): void {
    let type = this.#types.get(typeUrl);
    if (type === undefined)
      this.#types.set(typeUrl, (type = { all: new Map(), located: new Map() }));
    const id = interestKey(interest, key);
    if (!type.all.has(id)) this.#size++;
    type.all.set(id, [value]);
    if (id === key) return;
    const located = type.located.get(key);
    if (located === undefined) type.located.set(key, new Map([[id, value]]));
    else located.set(id, value);
  }

  /** Removes an interest. Returns false if it was not there. */
  delete(typeUrl: string, interest: Interest, key: string): boolean {
    const type = this.#types.get(typeUrl);
    const id = interestKey(interest, key);
    if (type?.all.delete(id) !== true) return false;
    this.#size--;
    if (type.all.size === 0) this.#types.delete(typeUrl);
    const located = id === key ? undefined : type.located.get(key);
    if (located?.delete(id) === true && located.size === 0) type.located.delete(key);
    return true;
  }

  /** Removes everything. */
  clear(): void {
    this.#types.clear();
    this.#size = 0;
  }

  /** Returns true if a name has a value with any parameters, or without. */
  hasName(typeUrl: string, key: string | undefined): boolean {
    const type = this.#types.get(typeUrl);
    if (type === undefined || key === undefined) return false;
    return (type.all.has(key) && !key.includes("\n")) || type.located.has(key);
  }

  /** Returns the values of a name with all parameters. Without parameters it is the same array until a value is set or deleted. */
  ofName(typeUrl: string, key: string | undefined): readonly T[] {
    const type = key === undefined ? undefined : this.#types.get(typeUrl);
    if (type === undefined || key === undefined) return NONE;
    if (type.located.size === 0) return type.all.get(key) ?? NONE;
    const located = type.located.get(key);
    // A text with a line break may be the id of another name with parameters.
    const plain = key.includes("\n") ? NONE : (type.all.get(key) ?? NONE);
    return located === undefined ? plain : [...plain, ...located.values()];
  }

  /**
   * Returns the values of the interests that cover a name: the name itself, its aliases, its glob
   * and `*`. If only one interest covers each of several names, the array is the same for all of
   * them until a value is set or removed.
   * @param glob - The key of the glob that has the name as a member. undefined: no glob has it
   * @param aliases - Keys of the aliases
   */
  covering(
    typeUrl: string,
    key: string,
    glob: string | undefined,
    aliases: readonly string[] = NONE,
  ): readonly T[] {
    const named =
      aliases.length === 0
        ? this.ofName(typeUrl, key)
        : [key, ...aliases].flatMap((one) => this.ofName(typeUrl, one));
    return joined(named, joined(this.ofName(typeUrl, glob), this.ofName(typeUrl, "*")));
  }
}

function joined<T>(some: readonly T[], others: readonly T[]): readonly T[] {
  if (others.length === 0) return some;
  return some.length === 0 ? others : [...some, ...others];
}

/**
 * Returns a map key for an interest: its name, as it is spelled or canonical, and its dynamic
 * parameters, which belong to the interest in any order (N-66). Different interests have different
 * keys, whatever characters are in their names.
 */
export function interestKey({ parameters }: Interest, name: string): string {
  const sorted =
    parameters === undefined || parameters.size === 0
      ? ""
      : JSON.stringify([...parameters].sort(([a], [b]) => (a < b ? -1 : 1)));
  if (name.includes("\n")) return `\n${JSON.stringify(name)}${sorted}`;
  return sorted === "" ? name : `${name}\n${sorted}`;
}
