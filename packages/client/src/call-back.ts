import { isSameError } from "@xdstp/core";

import type { Snapshot, Watch, WatchCalls } from "./watch.ts";

/**
 * Makes the two calls of gRPC from the snapshots of a watch (C-GRPC-8). A watcher that begins late
 * gets the cached resource first, then the ambient error. Rejects with the error that a call
 * throws. Does not reject when `signal` ends the watch.
 */
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

/**
 * Returns true if an error was thrown because of a signal: by the watch, or by something with the
 * same signal that a call awaits. Compares name and message, since the error may be a copy.
 */
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
    if (snapshot.value === undefined || snapshot.isDefault === true) {
      await calls.onChanged?.(snapshot);
      continue;
    }
    const isNew = last?.value !== snapshot.value || last.isDefault === true;
    if (isNew) await calls.onChanged?.(withoutError(snapshot));
    const known = last?.value === undefined || last.isDefault === true ? undefined : last.error;
    // Without a new value, the snapshot reports its error, perhaps the same error again (C-ACK-18).
    const isReport = !isNew && snapshot.error !== undefined;
    if (isOpen() && (isReport || !isSameError(snapshot.error, known)))
      await calls.onAmbientError?.(snapshot.error);
  }
}

function withoutError<T>({ name, value, version }: Snapshot<T>): Snapshot<T> {
  return value === undefined ? { name, version } : { name, value, version };
}
