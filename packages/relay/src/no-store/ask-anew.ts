import {
  forwardSink,
  forwardSource,
  InterestMap,
  type Entry,
  type Interest,
  type ResourceFeed,
  type ResourceSink,
  type ResourceSource,
  type Transaction,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import { FreshTopic } from "./fresh-topic.ts";
import { Waits } from "./waits.ts";

/** What may not be kept (`do_not_cache`) is passed on to its present subscribers when it comes; for a later subscriber it is requested upstream again (B-RELAY-11). */
export interface AskAnew {
  /** The same feed, which is heard. */
  overFeed(feed: ResourceFeed): ResourceFeed;
  /** The same source. Where nothing of the kind is cached, its topics are passed on unchanged. */
  overSource(source: ResourceSource): ResourceSource;
}

/** Nothing has come yet. One for a cache, whose feed and readers it stands between. */
export function createAskAnew(): AskAnew {
  /** Of these something may not be kept. */
  const types = new Set<string>();
  /** The subscriptions that the feed was sent. */
  const wanted = new InterestMap<Interest>();
  let ask: ResourceFeed["want"];
  const waits = new Waits((typeUrl, interests) => {
    // New subscriptions are sent to the feed anyway.
    const told = interests.filter(
      (interest) => wanted.get(typeUrl, interest, nameKey(interest.name)) !== undefined,
    );
    if (told.length === 0) return;
    ask?.(typeUrl, [], told);
    ask?.(typeUrl, told, []);
  });
  const note = (transaction: Transaction): void => {
    for (const { typeUrl, resource } of transaction.put ?? [])
      if (resource.noStore === true) types.add(typeUrl);
    waits.note(transaction);
  };
  return {
    overFeed: (feed) => {
      ask = (...updates) => {
        feed.want?.(...updates);
      };
      return {
        run: async (sink, signal) => feed.run(heard(sink, note), signal),
        want(typeUrl, added, dropped) {
          for (const interest of dropped) {
            wanted.delete(typeUrl, interest, nameKey(interest.name));
            waits.drop(typeUrl, interest);
          }
          for (const interest of added)
            wanted.set(typeUrl, interest, nameKey(interest.name), interest);
          feed.want?.(typeUrl, added, dropped);
        },
      };
    },
    overSource: (source) =>
      forwardSource(source, {
        topic(typeUrl, interest) {
          const topic = source.topic(typeUrl, interest);
          return types.has(typeUrl) && holdsForOthers(topic.members())
            ? new FreshTopic(topic, () => waits.of(typeUrl, interest))
            : topic;
        },
      }),
  };
}

/** The same sink, which notes each transaction after its commit, so that those who wait for it see it. */
function heard(sink: ResourceSink, note: (transaction: Transaction) => void): ResourceSink {
  return forwardSink(sink, (inner) => ({
    commit(transaction) {
      const committed = inner.commit(transaction);
      note(transaction);
      return committed;
    },
  }));
}

const known = new WeakMap<readonly Entry[], boolean>();

/** Read once per array: members of a collection are one and the same until it changes. */
function holdsForOthers(members: readonly Entry[]): boolean {
  const found = known.get(members) ?? members.some(({ resource }) => resource?.noStore === true);
  known.set(members, found);
  return found;
}
