/** A call that waits for its time. */
export interface Call {
  readonly at: number;
  readonly callback: () => void;
  /** The order among equal times. */
  readonly number: number;
  cancelled: boolean;
}

/**
 * Calls in the order of their times. Calls with equal times are in the order in which they were
 * added.
 */
export interface CallQueue {
  readonly size: number;
  add(at: number, callback: () => void): Call;
  /** Cancels a call. Does nothing if it was already taken. */
  cancel(call: Call): void;
  /** Returns the next call, and leaves it in the queue. */
  peek(): Call | undefined;
  /** Removes and returns the next call. */
  take(): Call | undefined;
}

/**
 * Creates a binary heap. Cancelled calls stay in it until they come first, or until they are more
 * than half of it.
 */
export function createCallQueue(): CallQueue {
  return new Heap();
}

class Heap implements CallQueue {
  #calls: Call[] = [];
  #made = 0;
  #cancelled = 0;

  get size(): number {
    return this.#calls.length - this.#cancelled;
  }

  add(at: number, callback: () => void): Call {
    const call: Call = { at, callback, number: this.#made++, cancelled: false };
    this.#calls.push(call);
    this.#up(this.#calls.length - 1, call);
    return call;
  }

  cancel(call: Call): void {
    if (call.cancelled) return;
    call.cancelled = true;
    this.#cancelled++;
    if (this.#cancelled > 64 && this.#cancelled > this.#calls.length / 2) this.#compact();
  }

  peek(): Call | undefined {
    for (;;) {
      const first = this.#calls[0];
      if (first?.cancelled !== true) return first;
      this.#cancelled--;
      this.#removeFirst();
    }
  }

  take(): Call | undefined {
    const first = this.peek();
    if (first === undefined) return undefined;
    this.#removeFirst();
    // Marks the call as no longer cancellable.
    first.cancelled = true;
    return first;
  }

  #removeFirst(): void {
    const last = this.#calls.pop();
    if (last !== undefined && this.#calls.length > 0) this.#down(last);
  }

  /** Removes all cancelled calls. The others are sorted, since a sorted array is a heap. */
  #compact(): void {
    this.#calls = this.#calls
      .filter(({ cancelled }) => !cancelled)
      .sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  #up(from: number, call: Call): void {
    let at = from;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = this.#calls[above];
      if (parent === undefined || isBefore(parent, call)) break;
      this.#calls[at] = parent;
      at = above;
    }
    this.#calls[at] = call;
  }

  #down(call: Call): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const [one, other] = [this.#calls[left], this.#calls[left + 1]];
      if (one === undefined) break;
      const [child, index] =
        other !== undefined && isBefore(other, one) ? [other, left + 1] : [one, left];
      if (isBefore(call, child)) break;
      this.#calls[at] = child;
      at = index;
    }
    this.#calls[at] = call;
  }
}

function isBefore(one: Call, other: Call): boolean {
  return one.at < other.at || (one.at === other.at && one.number < other.number);
}
