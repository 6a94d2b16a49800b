/**
 * The last known good state on disk: a snapshot of what feeds have supplied.
 *
 * ```ts
 * const client = createClient({ snapshot: openSnapshot({ dir: "/var/lib/shop/xds" }) });
 * ```
 *
 * @packageDocumentation
 */
export { openSnapshot } from "./open-snapshot.ts";
export { SnapshotInUse } from "./snapshot-lock.ts";
export type { Served, Snapshot, SnapshotEvent, SnapshotOptions } from "./snapshot.ts";
