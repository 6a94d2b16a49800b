/** Calls back when a signal aborts, at once if it has. Returns what ends that: a signal may live much longer than who follows it, also after it has aborted. */
export function followSignal(
  signal: AbortSignal | undefined,
  onAbort: (reason: unknown) => void,
): () => void {
  const abort = (): void => {
    onAbort(signal?.reason);
  };
  if (signal?.aborted === true) abort();
  else signal?.addEventListener("abort", abort, { once: true });
  return () => {
    signal?.removeEventListener("abort", abort);
  };
}
