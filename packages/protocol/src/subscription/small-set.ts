/** A set of mostly none or one: without a table of its own until there are two. As `Set` otherwise, in order of insertion. */
export interface SmallSet<T> extends Iterable<T> {
  /** How many values there are. */
  readonly size: number;
  /** Whether a value is in it. */
  has(value: T): boolean;
  /** Adds a value. */
  add(value: T): void;
  /** Removes a value; false: it was not in it. */
  delete(value: T): boolean;
  /** Removes all values. */
  clear(): void;
}

/** An empty set. There are several for each type on each stream, nearly always empty, and an empty `Set` takes 200 bytes. */
export function createSmallSet<T extends object | string>(): SmallSet<T> {
  return new FewValues<T>();
}

class FewValues<T extends object | string> implements SmallSet<T> {
  #only: T | undefined;
  /** Holds everything, once there are two. */
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
