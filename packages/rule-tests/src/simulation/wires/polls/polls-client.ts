import { create, toBinary } from "@bufbuild/protobuf";
import { createCache } from "@xdstp/cache";
import type { Clock } from "@xdstp/core";
import { createClientContext } from "@xdstp/protocol/client";
import { NodeSchema } from "@xdstp/protos/discovery";
import type { SeededRandom } from "@xdstp/testing";
import { createRestChannel, type FetchLike } from "@xdstp/transport-rest/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import { textIn } from "../../../harness/payload.ts";
import type { Shown } from "../watch-view.ts";
import { WILDCARD } from "./polls-deeds.ts";
import { pollServices, pollTypes, typesOf } from "./polls-origin.ts";
import type { PollClientShape } from "./polls-shape.ts";

export interface PollClientOptions {
  readonly shape: PollClientShape;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly fetch: FetchLike;
}

/** A client that watches names of one type. */
export interface PollClient {
  watch(name: string): void;
  unwatch(name: string): void;
  /** Returns what the watch of a name shows. */
  shown(name: string): Shown;
  close(): void;
}

const watcher = { wake: (): void => undefined };

export function createPollClient({ shape, clock, random, fetch }: PollClientOptions): PollClient {
  const { typeUrl, stream } = pollTypes[shape.type];
  const channel = createRestChannel({
    url: "http://config.example",
    waitMs: shape.waitMs,
    services: pollServices,
    fetch,
    clock,
    random: () => random.next(),
  });
  const cache = createCache({ types: typesOf(shape.rejects), clock });
  cache.addFeed(
    createSotwClient(
      createClientContext({
        connect: (handler) => channel.open({ path: stream }, handler),
        node: toBinary(NodeSchema, create(NodeSchema, { id: shape.node })),
        clock,
        random: () => random.next(),
        later: (callback) => {
          clock.after(0, callback);
        },
        descriptor: (url) => cache.descriptor(url),
        backoff: { maxMs: 5_000 },
        isSilentIfCurrent: true,
      }),
    ),
  );
  const topicOf = (name: string) => cache.topic(typeUrl, { name });
  return {
    watch: (name) => {
      topicOf(name).watch(watcher);
    },
    unwatch: (name) => {
      topicOf(name).unwatch(watcher);
    },
    shown(name) {
      const topic = topicOf(name);
      if (!topic.settled) return { kind: "unknown" };
      const texts = topic
        .members()
        .flatMap(({ name: member, resource }) =>
          resource === undefined ? [] : [[member, textIn(resource.payload.value)] as const],
        );
      const text = name === WILDCARD ? textOfAll(texts) : texts[0]?.[1];
      return text === undefined ? { kind: "missing" } : { kind: "text", text };
    },
    close: () => {
      void cache.close();
      channel.close();
    },
  };
}

/** Returns the text of all names together. undefined: there are none. */
export function textOfAll(
  texts: Iterable<readonly [name: string, text: string]>,
): string | undefined {
  const all = Array.from(texts, ([name, text]) => `${name}=${text}`).sort();
  return all.length === 0 ? undefined : all.join(" ");
}
