/**
 * A set that mostly has no or one value. It creates a `Set` only for the second value; otherwise it
 * behaves as `Set`, in the order of insertion.
 */
export interface SmallSet<T> extends Iterable<T> {
  /** The number of values. */
  readonly size: number;
  /** Returns true if a value is in the set. */
  has(value: T): boolean;
  /** Adds a value. */
  add(value: T): void;
  /** Removes a value. Returns false if it was not in the set. */
  delete(value: T): boolean;
  /** Removes all values. */
  clear(): void;
}

/**
 * Creates an empty set. Each type on each stream has several of them, which are nearly always
 * empty, and an empty `Set` takes 200 bytes.
 */
export function createSmallSet<T extends object | string>(): SmallSet<T> {
  return new FewValues<T>();
}

class FewValues<T extends object | string> implements SmallSet<T> {
  #only: T | undefined;
  /** Has all values once there were two. */
  #all: Set<T> | undefined;

  get size(): number {
    return this.#all?.size ?? Number(this.#only !== undefined);
  }

  has(value: T): boolean {
    return this.#all?.has(value) ?? this.#only === value;
  }

  add(value: T): void {
    if (this.#all !== undefined) this.#all.add(value);
    else if (this.#only === undefined) this.#only = value;
    else if (this.#only !== value) {
      this.#all = new Set([this.#only, value]);
      this.#only = undefined;
    }
  }

  delete(value: T): boolean {
    if (this.#all !== undefined) return this.#all.delete(value);
    if (this.#only !== value) return false;
    this.#only = undefined;
    return true;
  }

  clear(): void {
    this.#only = undefined;
    this.#all = undefined;
  }

  [Symbol.iterator](): Iterator<T> {
    if (this.#all !== undefined) return this.#all.values();
    return (this.#only === undefined ? [] : [this.#only]).values();
  }
}
