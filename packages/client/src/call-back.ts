import type { Snapshot, Watch, WatchCalls } from "./watch.ts";

/** Turns snapshots into the two calls of gRPC (C-GRPC-8): a late watcher gets the cached resource, then the ambient error. Rejects with what a call throws; a signal that ends the watch is not an error here. */
export async function callBack<T>(
  watch: Watch<Snapshot<T>>,
  calls: WatchCalls<T>,
  isOpen: () => boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    await callEach(watch, calls, isOpen);
  } catch (error) {
    if (signal?.aborted !== true || error !== signal.reason) throw error;
  }
}

async function callEach<T>(
  watch: Watch<Snapshot<T>>,
  calls: WatchCalls<T>,
  isOpen: () => boolean,
): Promise<void> {
  let before: Snapshot<T> | undefined;
  for await (const snapshot of watch) {
    const last = before;
    before = snapshot;
    if (snapshot.value === undefined) {
      await calls.onChanged?.(snapshot);
      continue;
    }
    const isNew = last?.value !== snapshot.value;
    if (isNew) await calls.onChanged?.(withoutError(snapshot));
    if (isOpen() && snapshot.error !== (last?.value === undefined ? undefined : last.error))
      await calls.onAmbientError?.(snapshot.error);
  }
}

function withoutError<T>({ name, value, version }: Snapshot<T>): Snapshot<T> {
  return value === undefined ? { name, version } : { name, value, version };
}
