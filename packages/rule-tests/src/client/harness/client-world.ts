import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache, type CacheOptions } from "@xdstp/cache";
import type { ResourceFeed, ResourceSink, ResourceType, Topic } from "@xdstp/core";
import {
  type ClientContextOptions,
  type ClientEvent,
  type ClientFeed,
  type ClientTypeStatus,
  createClientContext,
  type WantStatus,
} from "@xdstp/protocol/client";
import { NodeSchema } from "@xdstp/protos/discovery";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { madeUpTypes } from "../../harness/made-up-types.ts";
import { textIn } from "../../harness/payload.ts";
import {
  createScriptedServer,
  type ClientVariantName,
  type ScriptedServer,
} from "./scripted-server.ts";

/** The options of a world with one client. */
export interface ClientWorldOptions {
  readonly types?: readonly ResourceType[];
  readonly cache?: Omit<CacheOptions, "types" | "clock">;
  readonly client?: Partial<Omit<ClientContextOptions, "clock">>;
  /** False: the feed does not run yet. Default: true. */
  readonly runs?: boolean;
  /** Wraps the sink between the client and the cache. */
  readonly sink?: (sink: ResourceSink) => ResourceSink;
}

/** A watched topic, as a reader sees it. */
export interface Watched {
  readonly topic: Topic;
  readonly wakes: number;
  /** `pending`, or the resources: `name=text`, `name!CODE` for a name that does not exist; with `~CODE` while the supply is broken. */
  readonly now: string;
  stop(): void;
}

/** A client end with a cache behind it, and a server in the hands of the test. Time stands still; `turn` ends a turn of the event loop. */
export interface ClientWorld {
  readonly variant: ClientVariantName;
  readonly clock: FakeClock;
  readonly cache: Cache;
  readonly feed: ClientFeed;
  readonly server: ScriptedServer;
  readonly events: readonly ClientEvent[];
  readonly watch: (
    typeUrl: string,
    name: string,
    parameters?: Readonly<Record<string, string>>,
  ) => Watched;
  /** Watches, ends the turn, and lets the request go. */
  readonly ask: (typeUrl: string, ...names: readonly string[]) => Promise<readonly Watched[]>;
  readonly status: (typeUrl: string) => ClientTypeStatus;
  readonly want: (typeUrl: string, name: string) => WantStatus;
  /** Ends the client. */
  readonly end: () => Promise<void>;
}

/** Lets everything that waits for this turn to end happen. No time passes. */
export async function turn(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve();
}

/** The node that every client here is. */
export const node = toBinary(NodeSchema, create(NodeSchema, { id: "me" }));

/** Makes a client of which nothing is wanted yet. */
export function createClientWorld(
  variant: ClientVariantName,
  {
    types = madeUpTypes,
    cache: cacheOptions = {},
    client = {},
    runs = true,
    sink = (given) => given,
  }: ClientWorldOptions = {},
): ClientWorld {
  const clock = createFakeClock();
  const events: ClientEvent[] = [];
  const server = createScriptedServer(variant);
  const cache = createCache({ types, clock, ...cacheOptions });
  const context = createClientContext({
    connect: server.raw.connect,
    node,
    clock,
    random: () => 0.5,
    descriptor: (typeUrl) => cache.descriptor(typeUrl),
    onEvent: (event) => {
      events.push(event);
    },
    ...client,
  });
  const feed = variant === "delta" ? createDeltaClient(context) : createSotwClient(context);
  if (runs) cache.addFeed(behind(feed, sink));
  const watch: ClientWorld["watch"] = (typeUrl, name, parameters) =>
    watched(
      cache.topic(typeUrl, {
        name,
        ...(parameters === undefined ? {} : { parameters: new Map(Object.entries(parameters)) }),
      }),
    );
  const status: ClientWorld["status"] = (typeUrl) =>
    found(
      feed.status().types.find((type) => type.typeUrl === typeUrl),
      typeUrl,
    );
  return {
    variant,
    clock,
    cache,
    feed,
    server,
    events,
    watch,
    status,
    async ask(typeUrl, ...names) {
      const all = names.map((name) => watch(typeUrl, name));
      await turn();
      return all;
    },
    want: (typeUrl, name) =>
      found(
        status(typeUrl).wants.find(({ interest }) => interest.name === name),
        name,
      ),
    async end() {
      await cache.close();
    },
  };
}

function behind(feed: ClientFeed, sink: (sink: ResourceSink) => ResourceSink): ResourceFeed {
  return {
    run: async (given, signal) => feed.run(sink(given), signal),
    want: (...updates) => {
      feed.want(...updates);
    },
  };
}

function found<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} was expected, and is not there`);
  return value;
}

/** Watches a topic of any cache. */
export function watched(topic: Topic): Watched {
  let wakes = 0;
  const watcher = {
    wake: () => {
      wakes++;
    },
  };
  topic.watch(watcher);
  return {
    topic,
    get wakes() {
      return wakes;
    },
    get now() {
      return shown(topic);
    },
    stop: () => {
      topic.unwatch(watcher);
    },
  };
}

function shown(topic: Topic): string {
  const members = topic
    .members()
    .map(({ name, resource, error }) =>
      resource === undefined
        ? `${name}!${error?.code ?? ""}`
        : `${name}=${textIn(resource.payload.value)}`,
    );
  const known = topic.settled || members.length > 0 ? members.sort().join(" ") : "pending";
  const open = !topic.settled && members.length > 0 ? "..." : "";
  return `${known}${open}${topic.stale === undefined ? "" : ` ~${topic.stale.code}`}`;
}
