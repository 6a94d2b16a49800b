import { XdsError, type Clock } from "@xdstp/core";

import type { Snapshot, Watch } from "./watch.ts";

/**
 * The first snapshot with a value, or the first error that will not pass by itself.
 * Rejects with that error (it does not exist, may not be seen, was rejected), or DEADLINE_EXCEEDED, whose text has the last transient one (the server cannot be reached).
 */
export async function readOnce<T>(
  watch: Watch<Snapshot<T>>,
  clock: Clock,
  timeoutMs: number,
): Promise<Snapshot<T> & { readonly value: T }> {
  let last: XdsError | undefined;
  const state = { late: false };
  const timer = clock.after(timeoutMs, () => {
    state.late = true;
    watch.close();
  });
  try {
    for await (const snapshot of watch) {
      const { value, error } = snapshot;
      if (value !== undefined) return { ...snapshot, value };
      if (error !== undefined && isFinal(error)) throw error;
      last = error;
    }
  } finally {
    timer.cancel();
    watch.close();
  }
  if (!state.late)
    throw new XdsError("CANCELLED", `${JSON.stringify(watch.name)}: the client was closed`, {
      resource: watch.name,
    });
  throw new XdsError(
    "DEADLINE_EXCEEDED",
    `${JSON.stringify(watch.name)} has not come within ${timeoutMs / 1_000} s${last === undefined ? "" : `: ${last.text}`}`,
    { resource: watch.name, ...(last === undefined ? {} : { cause: last }) },
  );
}

/** A server that is away may come back; what does not exist, or may not be seen, is so. */
function isFinal({ code }: XdsError): boolean {
  return code === "NOT_FOUND" || code === "PERMISSION_DENIED" || code === "INVALID_ARGUMENT";
}
