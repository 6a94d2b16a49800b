import { createCache } from "@xdstp/cache";
import type { Clock } from "@xdstp/core";
import type { SeededRandom } from "@xdstp/testing";
import { createHttpFeed, type FetchLike, followResource } from "@xdstp/transport-http/client";

import { textIn } from "../../../harness/payload.ts";
import type { Shown } from "../watch-view.ts";
import { httpTypes, nameOf, ORIGIN, THING, urlOf } from "./http-origin.ts";

/** The kind of a client: a feed in a cache, or followers of single URLs; by long polls, or by requests from time to time. */
export interface HttpClientShape {
  readonly kind: "feed" | "follower";
  /** Of a feed: the number of long polls; its other names are requested from time to time. Of a follower: 0, or any. */
  readonly longPolls: number;
  /** The cache that it uses. Absent: any of them, for each request. */
  readonly edge: number | undefined;
}

export interface HttpClientOptions {
  readonly shape: HttpClientShape;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly fetch: FetchLike;
}

/** A client that watches ids. */
export interface HttpClient {
  watch(id: string): void;
  unwatch(id: string): void;
  /** Returns what the watch of an id shows. */
  shown(id: string): Shown;
  close(): void;
}

/** Milliseconds between two requests where the server gives no `max-age`. */
const REFRESH = 5_000;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  return options.shape.kind === "feed" ? createFeedClient(options) : createFollower(options);
}

const watcher = { wake: (): void => undefined };

function createFeedClient({ shape, clock, random, fetch }: HttpClientOptions): HttpClient {
  const cache = createCache({ types: httpTypes, clock });
  cache.addFeed(
    createHttpFeed({
      origin: () => ORIGIN,
      longPolls: shape.longPolls,
      refreshMs: REFRESH,
      fetch,
      clock,
      random: () => random.next(),
    }),
  );
  const topicOf = (id: string) => cache.topic(THING, { name: nameOf(id) });
  return {
    watch: (id) => {
      topicOf(id).watch(watcher);
    },
    unwatch: (id) => {
      topicOf(id).unwatch(watcher);
    },
    shown(id) {
      const topic = topicOf(id);
      if (!topic.settled) return { kind: "unknown" };
      const { resource } = topic.members()[0] ?? {};
      return resource === undefined
        ? { kind: "missing" }
        : { kind: "text", text: textIn(resource.payload.value) };
    },
    close: () => {
      void cache.close();
    },
  };
}

function createFollower({ shape, clock, random, fetch }: HttpClientOptions): HttpClient {
  const followed = new Map<string, ReturnType<typeof followResource>>();
  return {
    watch(id) {
      const options = {
        url: urlOf(id),
        longPoll: shape.longPolls > 0,
        refreshMs: REFRESH,
        fetch,
        clock,
        random: () => random.next(),
      };
      followed.set(
        id,
        followResource(options, () => undefined),
      );
    },
    unwatch(id) {
      followed.get(id)?.close();
      followed.delete(id);
    },
    shown(id) {
      const state = followed.get(id)?.state;
      return state?.kind === "found"
        ? { kind: "text", text: textIn(state.body) }
        : { kind: state?.kind ?? "unknown" };
    },
    close() {
      for (const one of followed.values()) one.close();
    },
  };
}
