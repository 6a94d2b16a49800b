import { isSameError } from "@xdstp/core";

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
    if (signal?.aborted !== true || !isSameReason(error, signal.reason)) throw error;
  }
}

/** Whether something was thrown for the reason of a signal: by the watch, or by what a call awaits with the same signal. An error may be a copy, so its name and message are compared. */
function isSameReason(thrown: unknown, reason: unknown): boolean {
  return thrown instanceof Error && reason instanceof Error
    ? thrown.name === reason.name && thrown.message === reason.message
    : thrown === reason;
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
    const known = last?.value === undefined ? undefined : last.error;
    // Without a new value it is the error that was reported, perhaps again (C-ACK-18).
    const isReport = !isNew && snapshot.error !== undefined;
    if (isOpen() && (isReport || !isSameError(snapshot.error, known)))
      await calls.onAmbientError?.(snapshot.error);
  }
}

function withoutError<T>({ name, value, version }: Snapshot<T>): Snapshot<T> {
  return value === undefined ? { name, version } : { name, value, version };
}
