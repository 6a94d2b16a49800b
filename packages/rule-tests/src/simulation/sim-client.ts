import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import type { Clock, Topic } from "@xdstp/core";
import { type ClientFeed, createClientContext } from "@xdstp/protocol/client";
import { NodeSchema } from "@xdstp/protos/discovery";
import type { Connection, Network, SeededRandom } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";

import { addressOf } from "./sim-server.ts";
import { choosyTypes, types } from "./types.ts";
import type { ClientShape } from "./world-shape.ts";

/** The options of a client. */
export interface SimClientOptions {
  readonly name: string;
  readonly shape: ClientShape;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly network: Network;
}

/** A process with a client end and a cache. */
export interface SimClient {
  readonly name: string;
  readonly shape: ClientShape;
  readonly cache: Cache;
  readonly feed: ClientFeed;
  /** Its newest call; undefined before the first. */
  readonly connection: Connection | undefined;
  /** Its watches. */
  readonly watched: ReadonlyMap<string, Watched>;
  watch(typeUrl: string, name: string): void;
  unwatch(typeUrl: string, name: string): void;
  leave(): void;
}

/** One thing that is watched. */
export interface Watched {
  readonly typeUrl: string;
  readonly name: string;
  readonly topic: Topic;
  /** When it began, in milliseconds since the epoch. */
  readonly since: number;
}

const watcher = { wake: (): void => undefined };

/** A client of which nothing is wanted yet. */
export function createSimClient({
  name,
  shape,
  clock,
  random,
  network,
}: SimClientOptions): SimClient {
  const cache = createCache({ types: shape.rejects ? choosyTypes : types, clock });
  const watched = new Map<string, Watched>();
  let connection: Connection | undefined;
  const context = createClientContext({
    connect: (handler) => {
      const stream = network.connect(addressOf(`server ${shape.origin}`, shape.variant), handler);
      connection = network.connections.findLast(({ isDuplicate }) => !isDuplicate);
      return stream;
    },
    node: toBinary(
      NodeSchema,
      create(NodeSchema, { id: name, clientFeatures: [...shape.features] }),
    ),
    clock,
    random: () => random.next(),
    later: (callback) => {
      clock.after(0, callback);
    },
    descriptor: (typeUrl) => cache.descriptor(typeUrl),
    backoff: { maxMs: 5_000 },
  });
  const feed = shape.variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
  cache.addFeed(feed);
  return {
    name,
    shape,
    cache,
    feed,
    watched,
    get connection() {
      return connection;
    },
    watch(typeUrl, wanted) {
      const key = `${typeUrl} ${wanted}`;
      if (watched.has(key)) return;
      const topic = cache.topic(typeUrl, { name: wanted });
      topic.watch(watcher);
      watched.set(key, { typeUrl, name: wanted, topic, since: clock.now() });
    },
    unwatch(typeUrl, wanted) {
      const key = `${typeUrl} ${wanted}`;
      watched.get(key)?.topic.unwatch(watcher);
      watched.delete(key);
    },
    leave() {
      void cache.close();
    },
  };
}
