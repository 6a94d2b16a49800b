import type { KeptFeed, ResourceFeed, SnapshotScope } from "@xdstp/core";

import { SnapshotKeeper } from "./snapshot-keeper.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * Wraps a feed on demand: its transactions are written to the snapshot, and subscribed interests
 * are served from the snapshot until upstream answers (B-RELAY-9).
 * It waits for the result of each commit, so only accepted resources are stored.
 * Throws FAILED_PRECONDITION if the store is closed.
 */
export function keepSnapshot(
  feed: ResourceFeed,
  store: SnapshotStore,
  options: SnapshotScope,
): KeptFeed {
  store.checkOpen();
  const keeper = new SnapshotKeeper(store, options);
  return {
    async run(sink, signal) {
      keeper.begin(sink);
      try {
        await feed.run(keeper.over(sink), signal);
      } finally {
        keeper.end();
      }
    },
    want(typeUrl, added, dropped) {
      keeper.want(typeUrl, added, dropped);
      feed.want?.(typeUrl, added, dropped);
    },
    restoredAt: (typeUrl, interest) => keeper.subscribed.find(typeUrl, interest)?.restoredAt,
  };
}
