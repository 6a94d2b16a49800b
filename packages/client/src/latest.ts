/**
 * Passes the newest value to one consumer. If the consumer is slow, it never sees values that newer
 * ones have replaced.
 */
export interface Latest<T> extends AsyncIterableIterator<T, undefined> {
  /**
   * Announces a new value. `read` creates the value when the consumer takes it; `undefined` means
   * that there is no value after all.
   */
  mark(read: () => T | undefined): void;
  /** Ends the iteration. A value that was not taken is dropped. */
  end(): void;
  /** Ends the iteration, and the consumer receives the reason. */
  fail(error: unknown): void;
  /** True once the consumer has called `next`. */
  readonly started: boolean;
  return(): Promise<IteratorResult<T, undefined>>;
}

/**
 * Creates a `Latest`.
 * @param onTaken - Called when the consumer has taken the announced value
 * @param onReturn - Called when the consumer ends the iteration
 */
export function createLatest<T>(onTaken: () => void, onReturn: () => void): Latest<T> {
  return new Newest<T>(onTaken, onReturn);
}

class Newest<T> implements Latest<T> {
  readonly #onTaken: () => void;
  readonly #onReturn: () => void;
  #read: (() => T | undefined) | undefined;
  #waiting: PromiseWithResolvers<IteratorResult<T, undefined>>[] = [];
  #ended = false;
  #error: { readonly reason: unknown } | undefined;
  started = false;

  constructor(onTaken: () => void, onReturn: () => void) {
    this.#onTaken = onTaken;
    this.#onReturn = onReturn;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  mark(read: () => T | undefined): void {
    if (this.#ended) return;
    if (this.#read === undefined && this.#waiting.length > 0)
      queueMicrotask(() => {
        this.#serve();
      }); // one microtask later, so that the consumer sees all changes of one response together
    this.#read = read;
  }

  end(): void {
    this.#ended = true;
    this.#read = undefined;
    this.#serve();
  }

  fail(error: unknown): void {
    this.#error ??= { reason: error };
    this.end();
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    this.started = true;
    const asked = Promise.withResolvers<IteratorResult<T, undefined>>();
    this.#waiting.push(asked);
    this.#serve();
    return asked.promise;
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.end();
    this.#onTaken();
    this.#onReturn();
    return Promise.resolve({ done: true, value: undefined });
  }

  #serve(): void {
    while (this.#waiting.length > 0) {
      const read = this.#read;
      if (read === undefined) break;
      this.#read = undefined;
      this.#give(read);
    }
    if (!this.#ended) return;
    for (const asked of this.#waiting.splice(0)) this.#finish(asked);
  }

  #give(read: () => T | undefined): void {
    try {
      const value = read();
      this.#onTaken();
      if (value !== undefined) this.#waiting.shift()?.resolve({ done: false, value });
    } catch (error) {
      this.#onTaken();
      this.#waiting.shift()?.reject(error);
    }
  }

  /** Reports a failure to one caller only; all others see the end. */
  #finish(asked: PromiseWithResolvers<IteratorResult<T, undefined>>): void {
    const error = this.#error;
    this.#error = undefined;
    if (error === undefined) asked.resolve({ done: true, value: undefined });
    else asked.reject(error.reason);
  }
}
