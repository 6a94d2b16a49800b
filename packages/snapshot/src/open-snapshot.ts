import { keepSnapshot } from "./keep-snapshot.ts";
import type { Snapshot, SnapshotOptions } from "./snapshot.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/**
 * Opens the snapshot in a directory. It blocks while it reads the file, for about one second per
 * 100,000 resources.
 * Throws an XdsError if another process uses the directory, if it cannot be created or read, if a
 * newer release wrote it, or if this Node does not have `node:sqlite`.
 */
export function openSnapshot(options: SnapshotOptions): Snapshot {
  return snapshotOver(new SnapshotStore(options));
}

/** Returns the snapshot of a store. */
export function snapshotOver(store: SnapshotStore): Snapshot {
  const close = (): Promise<void> => store.close();
  return {
    keep: (feed, scope) => keepSnapshot(feed, store, scope),
    status: () => store.status(),
    served: () => [...store.servings].flatMap((serving) => [...serving()]),
    flush: () => store.flush(),
    close,
    [Symbol.asyncDispose]: close,
  };
}
