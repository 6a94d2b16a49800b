/**
 * A map that mostly has no or one key. It creates a `Map` only for the second key; otherwise it
 * behaves as `Map`, in the order of insertion.
 */
export interface SmallMap<K, V> extends Iterable<readonly [K, V]> {
  /** The number of keys. */
  readonly size: number;
  /** Returns the value of a key. undefined: there is none. */
  get(key: K): V | undefined;
  /** Returns true if a key has a value. */
  has(key: K): boolean;
  /** Sets the value of a key. */
  set(key: K, value: V): void;
  /** Removes a key. Returns false if it was not there. */
  delete(key: K): boolean;
  /** Removes all keys. */
  clear(): void;
  /** Returns the keys, in the order in which they were set. */
  keys(): IteratorObject<K>;
  /** Returns the values, in the order in which they were set. */
  values(): IteratorObject<V>;
}

/** Creates an empty map; see `createSmallSet` for the reason. */
export function createSmallMap<K extends object | string, V>(): SmallMap<K, V> {
  return new FewPairs<K, V>();
}

class FewPairs<K extends object | string, V> implements SmallMap<K, V> {
  #key: K | undefined;
  #value: V | undefined;
  /** Has all keys once there were two. */
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
