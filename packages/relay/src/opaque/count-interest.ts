import { interestKey, type ResourceFeed } from "@xdstp/core";

/** The same feed. Calls back once it has no subscriptions any more at the end of a turn. */
export function countInterest(feed: ResourceFeed, onIdle: () => void): ResourceFeed {
  const wanted = new Set<string>();
  return {
    run: async (sink, signal) => feed.run(sink, signal),
    want(typeUrl, added, dropped) {
      for (const interest of added)
        wanted.add(`${typeUrl}\n${interestKey(interest, interest.name)}`);
      for (const interest of dropped)
        wanted.delete(`${typeUrl}\n${interestKey(interest, interest.name)}`);
      feed.want?.(typeUrl, added, dropped);
      if (wanted.size === 0 && dropped.length > 0)
        queueMicrotask(() => {
          if (wanted.size === 0) onIdle();
        });
    },
  };
}
