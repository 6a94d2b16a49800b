import type { ResourceFeed } from "@xdstp/core";

import { SnapshotKeeper, type KeepOptions } from "./snapshot-keeper.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * A feed over a feed on demand: all that passes is written to the snapshot, and what is asked for is served from it until upstream has said it (B-RELAY-9).
 * It stands next to the cache, so that only what was accepted is stored.
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
