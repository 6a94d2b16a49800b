import type { ResourceFeed } from "@xdstp/core";

import { SnapshotKeeper, type KeepOptions } from "./snapshot-keeper.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * Wraps a feed on demand: its transactions are written to the snapshot, and subscribed interests are served from the snapshot until upstream answers (B-RELAY-9).
 * It is the wrapper next to the cache, so that only accepted resources are stored.
 */
export function keepSnapshot(
  feed: ResourceFeed,
  store: SnapshotStore,
  options: KeepOptions,
): ResourceFeed {
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
  };
}
