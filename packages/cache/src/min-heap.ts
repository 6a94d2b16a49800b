/**
 * A binary heap: the least item is found at once and removed in O(log n) steps. An item that is not
 * less than the others is added in one step, whatever their number.
 */
export class MinHeap<T> {
  /** The number of comparisons, for tests. */
  work = 0;
  #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  /**
   * @param isBefore - A strict weak order. Items of which neither is before the other are removed
   * in any order
   */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The least item. undefined: the heap is empty. */
  get first(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    let at = this.#items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#items[above] as T;
      if (!this.#precedes(item, parent)) break;
      this.#items[at] = parent;
      at = above;
    }
    this.#items[at] = item;
  }

  /** Removes and returns the least item. */
  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0) this.#sink(0, last as T);
    return first;
  }

  /** Removes all other items, in O(n) steps. */
  keep(isKept: (item: T) => boolean): void {
    this.#items = this.#items.filter(isKept);
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--)
      this.#sink(at, this.#items[at] as T);
  }

  clear(): void {
    this.#items = [];
  }

  /** Moves an item to its position, at `start` or below. */
  #sink(start: number, item: T): void {
    let at = start;
    for (;;) {
      const below = this.#lesserBelow(at);
      const child = this.#items[below];
      if (child === undefined || !this.#precedes(child, item)) break;
      this.#items[at] = child;
      at = below;
    }
    this.#items[at] = item;
  }

  #lesserBelow(at: number): number {
    const left = 2 * at + 1;
    const [one, other] = [this.#items[left], this.#items[left + 1]];
    return one !== undefined && other !== undefined && this.#precedes(other, one) ? left + 1 : left;
  }

  #precedes(one: T, other: T): boolean {
    this.work++;
    return this.#isBefore(one, other);
  }
}
