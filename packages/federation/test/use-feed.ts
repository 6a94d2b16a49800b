import type { Put, ResourceFeed, ResourceSink, Scope } from "@xdstp/core";
import { onTestFinished } from "vitest";

/** The reports of a feed. */
export interface Told {
  readonly put: Put[];
  /** As `scope: CODE text`, or `scope: well`. */
  readonly outages: string[];
}

/** Runs a feed for one test, over a sink that stores nothing and records the reports. */
export function useFeed(feed: ResourceFeed): Told {
  const told: Told = { put: [], outages: [] };
  const abort = new AbortController();
  const sink: ResourceSink = {
    commit({ put = [] }) {
      told.put.push(...put);
      return { revision: told.put.length };
    },
    held: () => [],
    unavailable(scope, error) {
      told.outages.push(`${nameOf(scope)}: ${error === undefined ? "well" : error.message}`);
    },
  };
  void feed.run(sink, abort.signal);
  onTestFinished(() => {
    abort.abort();
  });
  return told;
}

function nameOf({ typeUrl, interest }: Scope): string {
  return (
    [typeUrl?.split(".").at(-1), interest?.name].filter((part) => part !== undefined).join(" ") ||
    "all"
  );
}
