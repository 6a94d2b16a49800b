/** Gives the newest value to one consumer, which may be slow: a value that was not read when a newer one comes is never seen. */
export interface Latest<T> extends AsyncIterableIterator<T, undefined> {
  /** Something has come. `read` makes it when it is taken; undefined: it was nothing. */
  mark(read: () => T | undefined): void;
  /** No more comes, and what has come and was not taken is dropped. */
  end(): void;
  /** The same, and the consumer receives the reason. */
  fail(error: unknown): void;
  /** It has a consumer, which has called at least once. */
  readonly started: boolean;
  return(): Promise<IteratorResult<T, undefined>>;
}

/** @param onTaken - called when what had come is taken; @param onReturn - called when the consumer has had enough */
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
      }); // what one response changes is seen as a whole
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

  /** A failure is reported once. */
  #finish(asked: PromiseWithResolvers<IteratorResult<T, undefined>>): void {
    const error = this.#error;
    this.#error = undefined;
    if (error === undefined) asked.resolve({ done: true, value: undefined });
    else asked.reject(error.reason);
  }
}
