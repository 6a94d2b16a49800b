/** The messages of a call until its signal aborts. Throws its reason then, also while the next message is awaited: a call that waits would not end otherwise. */
export async function* untilAborted<T>(
  messages: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  for (;;) {
    const next = await orAbort(iterator.next(), signal);
    if (next.done === true) return;
    yield next.value;
  }
}

async function orAbort<T>(task: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) onAbort();
  });
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([task, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
