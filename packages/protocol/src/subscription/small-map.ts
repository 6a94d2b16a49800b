/** A map of mostly none or one: without a table of its own until there are two. As `Map` otherwise, in order of insertion. */
export interface SmallMap<K, V> extends Iterable<readonly [K, V]> {
  /** How many entries there are. */
  readonly size: number;
  /** The value of a key. undefined: there is none. */
  get(key: K): V | undefined;
  /** Whether there is a value for a key. */
  has(key: K): boolean;
  /** Sets the value of a key. */
  set(key: K, value: V): void;
  /** Removes a key; false: there was none. */
  delete(key: K): boolean;
  /** Removes all keys. */
  clear(): void;
  /** The keys, in the order in which they were set. */
  keys(): IteratorObject<K>;
  /** The values, in the order in which they were set. */
  values(): IteratorObject<V>;
}

/** An empty map; see `createSmallSet`. */
export function createSmallMap<K extends object | string, V>(): SmallMap<K, V> {
  return new FewPairs<K, V>();
}

class FewPairs<K extends object | string, V> implements SmallMap<K, V> {
  #key: K | undefined;
  #value: V | undefined;
  /** Holds everything, once there are two. */
  #all: Map<K, V> | undefined;

  get size(): number {
    return this.#all?.size ?? Number(this.#key !== undefined);
  }

  get(key: K): V | undefined {
    if (this.#all !== undefined) return this.#all.get(key);
    return this.#key === key ? this.#value : undefined;
  }

  has(key: K): boolean {
    return this.#all?.has(key) ?? this.#key === key;
  }

  set(key: K, value: V): void {
    if (this.#all !== undefined) this.#all.set(key, value);
    else if (this.#key === undefined || this.#key === key) this.#keep(key, value);
    else {
      this.#all = new Map([...this.#pairs(), [key, value]]);
      this.#keep(undefined, undefined);
    }
  }

  delete(key: K): boolean {
    if (this.#all !== undefined) return this.#all.delete(key);
    if (this.#key !== key) return false;
    this.#keep(undefined, undefined);
    return true;
  }

  clear(): void {
    this.#keep(undefined, undefined);
    this.#all = undefined;
  }

  keys(): IteratorObject<K> {
    if (this.#all !== undefined) return this.#all.keys();
    return (this.#key === undefined ? [] : [this.#key]).values();
  }
  values(): IteratorObject<V> {
    if (this.#all !== undefined) return this.#all.values();
    return (this.#key === undefined ? [] : [this.#value as V]).values();
  }
  [Symbol.iterator](): Iterator<readonly [K, V]> {
    return this.#all?.entries() ?? this.#pairs().values();
  }

  #keep(key: K | undefined, value: V | undefined): void {
    this.#key = key;
    this.#value = value;
  }

  #pairs(): readonly (readonly [K, V])[] {
    return this.#key === undefined ? [] : [[this.#key, this.#value as V]];
  }
}
