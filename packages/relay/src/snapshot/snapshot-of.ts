import { XdsError, type Clock } from "@xdstp/core";

import type { Snapshot, SnapshotOptions } from "./snapshot.ts";
import type { SnapshotEvent } from "./snapshot-event.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/** The snapshot that a relay was given, or one that it opens itself, with its clock and events. */
export function snapshotOf(
  given: Snapshot | SnapshotOptions | undefined,
  clock: Clock,
  onEvent: (event: SnapshotEvent) => void,
): SnapshotStore | undefined {
  if (given === undefined || given instanceof SnapshotStore) return given;
  if ("dir" in given) return new SnapshotStore({ clock, onEvent, ...given });
  throw new XdsError(
    "INVALID_ARGUMENT",
    "the snapshot of a relay is none that openSnapshot has made; give { dir }, or what it returns",
  );
}
