import { createCache, type Cache, type CacheOptions, type PutOptions } from "@xdstp/cache";
import type { ResourceSource, ResourceType } from "@xdstp/core";
import {
  createScheduler,
  createServerContext,
  type Quirk,
  type ServerContext,
  type StreamEvent,
  type StreamLimits,
  type StreamStatus,
} from "@xdstp/protocol/server";
import {
  createFakeClock,
  createManualScheduler,
  type FakeClock,
  type ManualScheduler,
  type RawClient,
} from "@xdstp/testing";
import { answerOfDelta, answerOfSotw } from "./answer.ts";
import { createCalls, type OpenRaw } from "./create-calls.ts";
import { createDeltaTypeClient } from "./delta-type-client.ts";
import { createInbox } from "./inbox.ts";
import { madeUpTypes } from "./made-up-types.ts";
import { payloadOf } from "./payload.ts";
import { createPeer, type NodeInit, type Peer, type PeerStream } from "./peer.ts";
import { createSotwTypeClient } from "./sotw-type-client.ts";
import { isAds, isDelta, type Variant } from "./variant.ts";

/** The options of a world. */
export interface WorldOptions {
  readonly variant: Variant;
  /** Default: {@link madeUpTypes}. */
  readonly types?: readonly ResourceType[];
  readonly quirks?: readonly Quirk[];
  readonly limits?: Partial<StreamLimits>;
  readonly controlPlane?: string;
  /** More options of the cache. */
  readonly cache?: Omit<CacheOptions, "types" | "clock">;
  /** false: the cache is left as it is made, without its first complete state. */
  readonly ready?: boolean;
  /** A filter over the cache, which is then what the server serves. */
  readonly source?: (cache: Cache) => ResourceSource;
}

/** A cache, a server and its clients in memory. Time and turns belong to the test: responses come only when `run` is called. */
export interface World {
  readonly variant: Variant;
  readonly cache: Cache;
  readonly clock: FakeClock;
  readonly turns: ManualScheduler;
  readonly context: ServerContext;
  /** The events that the server reported, in order. */
  readonly events: readonly StreamEvent[];
  /** Puts a resource whose payload is {@link payloadOf} name and text. */
  put(typeUrl: string, name: string, text?: string, options?: PutOptions): void;
  remove(typeUrl: string, name: string): void;
  /** Turns the event loop until nothing is left to do. */
  run(): void;
  /** A client that says the same in both variants. Its first message on each stream carries the node; null: none does. Default: id `n`. */
  connect(options?: { readonly node?: NodeInit | null }): Peer;
  /** A client that sends delta messages as they are; on ADS the type is not used. For delta variants. */
  openDelta(
    typeUrl: string,
    options?: { readonly node?: NodeInit | null },
  ): OpenRaw<RawClient<"delta">>;
  /** The same for SotW variants. */
  openSotw(
    typeUrl: string,
    options?: { readonly node?: NodeInit | null },
  ): OpenRaw<RawClient<"sotw">>;
  /** A row per open stream of this world. */
  status(): readonly StreamStatus[];
}

/** Makes a world in which nothing has happened yet. */
export function createWorld(options: WorldOptions): World {
  const { variant, controlPlane = "", limits = {}, quirks = [], types = madeUpTypes } = options;
  const clock = createFakeClock();
  const turns = createManualScheduler();
  const events: StreamEvent[] = [];
  const cache = createCache({ types, clock, ...options.cache });
  if (options.ready !== false) cache.commit({});
  const source = options.source?.(cache) ?? cache;
  const context = createServerContext({
    source,
    clock,
    controlPlane,
    limits,
    quirks,
    scheduler: createScheduler({ later: turns.later }),
    onEvent: (event) => {
      events.push(event);
    },
  });
  const calls = createCalls(context, variant);
  return {
    variant,
    cache,
    clock,
    turns,
    context,
    events,
    put(typeUrl, name, text, more) {
      cache.put({ typeUrl, name, value: payloadOf(name, text), ...more });
    },
    remove(typeUrl, name) {
      cache.remove(typeUrl, name);
    },
    run() {
      turns.run();
    },
    connect: ({ node } = {}) =>
      createPeer(isAds(variant), (typeUrl) =>
        isDelta(variant)
          ? deltaStream(calls.delta(typeUrl, node))
          : sotwStream(calls.sotw(typeUrl, node)),
      ),
    openDelta: (typeUrl, { node } = {}) => calls.delta(typeUrl, node),
    openSotw: (typeUrl, { node } = {}) => calls.sotw(typeUrl, node),
    status: () => calls.open().map(({ server }) => server.status()),
  };
}

function deltaStream({ client, stream, server }: OpenRaw<RawClient<"delta">>): PeerStream {
  const inbox = createInbox(() => client.rest().map(answerOfDelta));
  return {
    stream,
    server,
    answers: () => inbox.all(),
    of: clientPerType((typeUrl) => createDeltaTypeClient(client, inbox, typeUrl)),
  };
}

function sotwStream({ client, stream, server }: OpenRaw<RawClient<"sotw">>): PeerStream {
  const inbox = createInbox(() => client.rest().map(answerOfSotw));
  return {
    stream,
    server,
    answers: () => inbox.all(),
    of: clientPerType((typeUrl) => createSotwTypeClient(client, inbox, typeUrl)),
  };
}

/** The same client each time a type is asked for. */
function clientPerType<Client>(make: (typeUrl: string) => Client): (typeUrl: string) => Client {
  const clients = new Map<string, Client>();
  return (typeUrl) => {
    let client = clients.get(typeUrl);
    if (client === undefined) clients.set(typeUrl, (client = make(typeUrl)));
    return client;
  };
}
