import type { Snapshot, SnapshotOptions } from "./snapshot.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/**
 * Opens the snapshot in a directory, with all that was on disk when a process had it last. It blocks while it reads the file, about a second for 100,000 resources.
 * Throws an XdsError where another process has the directory, where it cannot be made or read, and where a newer release wrote it.
 */
export function openSnapshot(options: SnapshotOptions): Snapshot {
  return new SnapshotStore(options);
}
