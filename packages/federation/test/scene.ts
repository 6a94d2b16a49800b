import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import type { Interest, Resource, Topic } from "@xdstp/core";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { messageFromLocator, parseLocator, type ResourceLocatorMessage } from "@xdstp/uri";
import { onTestFinished } from "vitest";

import {
  createFederation,
  type Federation,
  type FederationEvent,
  type FederationOptions,
} from "../src/index.ts";
import { inline, listOf } from "./lists.ts";
import { createStoreServer, type StoreServer } from "./store-server.ts";
import { turn } from "./turn.ts";

export const T = "type.googleapis.com/t.T";
export const LIST = "type.googleapis.com/t.TCollection";
export const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** Returns a name of an authority. */
export const of = (authority: string, id: string): string => `xdstp://${authority}/t.T/${id}`;

/** Returns a resource with this text as its content. */
export function resource(name: string, text: string, version = text): Resource {
  return { name, version, payload: { typeUrl: T, value: new TextEncoder().encode(text) } };
}

/** Returns a redirect to a locator. */
export function redirect(name: string, to: string, version = to): Resource {
  return {
    name,
    version,
    payload: {
      typeUrl: REDIRECT,
      value: toBinary(ResourceLocatorSchema, create(ResourceLocatorSchema, locatorInit(to))),
    },
  };
}

/** Returns a list with these inline entries. */
export function listNamed(
  name: string,
  entries: Readonly<Record<string, string>>,
  version = JSON.stringify(entries),
): Resource {
  return {
    name,
    version,
    payload: {
      typeUrl: LIST,
      value: listOf(
        ...Object.entries(entries).map(([entry, text]) => inline(entry, text, text, T)),
      ),
    },
  };
}

function locatorInit(to: string): Parameters<typeof create<typeof ResourceLocatorSchema>>[1] {
  const parsed = parseLocator(to);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return initOf(messageFromLocator(parsed.value));
}

function initOf({
  scheme = 0,
  id = "",
  authority = "",
  resourceType = "",
  exactContext,
  directives = [],
}: ResourceLocatorMessage): NonNullable<
  Parameters<typeof create<typeof ResourceLocatorSchema>>[1]
> {
  const schemes = { XDSTP: 0, HTTP: 1, FILE: 2 } as const;
  return {
    scheme: typeof scheme === "number" ? scheme : schemes[scheme],
    id,
    authority,
    resourceType,
    contextParamSpecifier: { case: "exactContext", value: { params: { ...exactContext?.params } } },
    directives: directives.map(({ alt, entry }) => ({
      directive:
        alt === undefined
          ? { case: "entry" as const, value: entry ?? "" }
          : { case: "alt" as const, value: initOf(alt) },
    })),
  };
}

export interface Scene {
  readonly cache: Cache;
  readonly federation: Federation;
  readonly clock: FakeClock;
  readonly servers: Readonly<Record<string, StoreServer>>;
  /** Returns a server by its id. */
  readonly at: (id: string) => StoreServer;
  /** Subscribes to a name as a reader does. */
  readonly watch: (
    name: string,
    typeUrl?: string,
    parameters?: ReadonlyMap<string, string>,
  ) => Watched;
  /** Lets this many milliseconds pass. */
  readonly pass: (ms: number) => Promise<void>;
  /** The events for operators. */
  readonly events: readonly FederationEvent[];
}

export interface Watched {
  readonly topic: Topic;
  /**
   * `text`, `text (why it may be out of date)`, `- why there is none`, or `?` if nothing is known
   * yet.
   */
  readonly now: string;
  readonly version: string | undefined;
  /** Texts of all members, by the last part of the name. */
  readonly members: string;
  close(): void;
}

/**
 * The servers of each authority, in order. With an array, each authority has one server of the same
 * name. `default` is for all others.
 */
export type Answering = readonly string[] | Readonly<Record<string, readonly string[]>>;

/**
 * Creates a federation over servers in memory, below a cache.
 * @param known - Servers that exist already, by id
 */
export async function scene(
  answering: Answering,
  options: Partial<FederationOptions> = {},
  known: Scene["servers"] = {},
): Promise<Scene> {
  const clock = createFakeClock();
  const orders = Array.isArray(answering)
    ? (answering as readonly string[]).map((id) => [id, [id]] as const)
    : Object.entries(answering as Readonly<Record<string, readonly string[]>>);
  const servers = Object.fromEntries(
    [...new Set(orders.flatMap(([, ids]) => ids))].map((id) => [
      id,
      known[id] ?? createStoreServer(id),
    ]),
  );
  const at = (id: string): StoreServer => servers[id] ?? fail(`there is no server ${id}`);
  const sources = orders.map(([authority, ids]) => ({
    servers: ids.map(at),
    ...(authority !== "default" && { authorities: [authority] }),
  }));
  const events: FederationEvent[] = [];
  const federation = createFederation({
    sources,
    clock,
    random: () => 0,
    onEvent: (event) => {
      events.push(event);
    },
    ...options,
  });
  const cache = createCache({
    clock,
    directives: true,
    wildcard: (_, name) => federation.inWildcard(name),
  });
  cache.addFeed(federation);
  onTestFinished(() => cache.close());
  await turn();
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await turn();
  };
  return {
    cache,
    federation,
    clock,
    servers,
    at,
    watch: (name, typeUrl = T, parameters = new Map()) =>
      watched(cache, typeUrl, { name, parameters }),
    pass,
    events,
  };
}

function fail(text: string): never {
  throw new Error(text);
}

function watched(cache: Cache, typeUrl: string, interest: Interest): Watched {
  const watcher = { wake: () => undefined };
  const topic = cache.topic(typeUrl, interest);
  topic.watch(watcher);
  return {
    topic,
    get now() {
      return shown(topic);
    },
    get version() {
      return topic.members()[0]?.resource?.version;
    },
    get members() {
      return topic
        .members()
        .flatMap((entry) =>
          entry.resource === undefined
            ? []
            : `${entry.name.replace(/#.*/, "").replace(/^.*\//, "")}=${text(entry.resource)}`,
        )
        .sort()
        .join(" ");
    },
    close: () => {
      topic.unwatch(watcher);
    },
  };
}

function shown(topic: Topic): string {
  const [entry] = topic.members();
  const { stale, settled } = topic;
  if (entry?.resource !== undefined)
    return stale === undefined ? text(entry.resource) : `${text(entry.resource)} (${stale.text})`;
  const why = stale ?? entry?.error;
  if (why !== undefined) return `- ${why.text}`;
  return settled ? "-" : "?";
}

function text({ payload }: Resource): string {
  return new TextDecoder().decode(payload.value);
}
