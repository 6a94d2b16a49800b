/** Items of which the least is found at once, and taken out in O(log n) steps. One that is not before the others is put in with one step, however many there are. */
export class MinHeap<T> {
  /** Steps taken, for tests that count work. */
  work = 0;
  #items: T[] = [];
  readonly #isBefore: (one: T, other: T) => boolean;

  /** @param isBefore - a total order: items of which none is before the other are taken out in any order */
  constructor(isBefore: (one: T, other: T) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The least; undefined: there is none. */
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

  /** Takes the least out. */
  pop(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (this.#items.length > 0) this.#sink(0, last as T);
    return first;
  }

  /** Lets go of the others, in O(n) steps. */
  keep(isKept: (item: T) => boolean): void {
    this.#items = this.#items.filter(isKept);
    for (let at = (this.#items.length >> 1) - 1; at >= 0; at--)
      this.#sink(at, this.#items[at] as T);
  }

  clear(): void {
    this.#items = [];
  }

  /** Puts an item where it belongs, at a place or below. */
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
