import type { Cache } from "@xdstp/cache";
import type { ByteStream, ByteStreamHandler, Clock, ResourceSource } from "@xdstp/core";

import type { SnapshotStore } from "../../../../snapshot/src/snapshot-store.ts";

/** Answers a call. */
export type ServeCall = (out: ByteStream) => ByteStreamHandler;

/** Something that is wrong with every server of a world, put around it from outside; or with every relay. Absent parts change nothing. */
export interface Defect {
  /** Around what is served. */
  readonly source?: (cache: Cache, clock: Clock) => ResourceSource;
  /** Around a call. */
  readonly serve?: (
    serve: ServeCall,
    out: ByteStream,
    variant: "delta" | "sotw",
  ) => ByteStreamHandler;
  /** The time, in milliseconds, for which a relay keeps subscriptions without subscribers. */
  readonly lingerMs?: number;
  /** Around what a relay keeps on disk. */
  readonly snapshot?: (store: SnapshotStore) => SnapshotStore;
}

/** Nothing is wrong. */
export const NO_DEFECT: Defect = {};
