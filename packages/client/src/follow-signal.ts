/** Calls back when a signal aborts, at once if it has. Returns what ends that: a signal may live much longer than who follows it. */
export function followSignal(signal: AbortSignal | undefined, onAbort: (reason: unknown) => void): () => void {
  const abort = (): void => { onAbort(signal?.reason); };
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted === true) abort();
  return () => { signal?.removeEventListener("abort", abort); };
}
