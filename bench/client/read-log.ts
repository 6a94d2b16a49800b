/** The times at which pushes were read, in milliseconds of the clock that all processes of a machine share, and the size of all pushes together. */
export interface Reads {
  readonly at: Float64Array;
  readonly bytes: number;
}

/** When pushes were read. */
export interface ReadLog {
  /** A push of so many bytes has been read now. */
  add(bytes: number): void;
  /** Resolves with the next so many pushes; rejects if there were more. */
  take(pushes: number): Promise<Reads>;
  /** Whoever waits, or will wait, gets this error. */
  fail(error: Error): void;
}

/** An empty log. */
export function createReadLog(): ReadLog {
  let at: number[] = [];
  let bytes = 0;
  let failed: Error | undefined;
  let waiting: { readonly pushes: number; readonly done: PromiseWithResolvers<Reads> } | undefined;
  const settle = (): void => {
    if (waiting === undefined || (failed === undefined && at.length < waiting.pushes)) return;
    const { pushes, done } = waiting;
    waiting = undefined;
    if (failed !== undefined) {
      done.reject(failed);
      return;
    }
    if (at.length > pushes) {
      done.reject(new Error(`${at.length} pushes came where ${pushes} were due`));
      return;
    }
    done.resolve({ at: Float64Array.from(at), bytes });
    at = [];
    bytes = 0;
  };
  return {
    add(size) {
      at.push(performance.timeOrigin + performance.now());
      bytes += size;
      if (at.length === waiting?.pushes) settle();
    },
    async take(pushes) {
      waiting = { pushes, done: Promise.withResolvers<Reads>() };
      const { promise } = waiting.done;
      settle();
      return promise;
    },
    fail(error) {
      failed ??= error;
      settle();
    },
  };
}
