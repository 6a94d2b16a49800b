import { create, toBinary } from "@bufbuild/protobuf";
import { createCache, type Cache } from "@xdstp/cache";
import type { Resource, Topic } from "@xdstp/core";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { createFakeClock, type FakeClock } from "@xdstp/testing";
import { messageFromLocator, parseLocator, type ResourceLocatorMessage } from "@xdstp/uri";
import { onTestFinished } from "vitest";

import { createFederation, type Federation, type FederationOptions } from "../src/index.ts";
import { createStoreServer, type StoreServer } from "./store-server.ts";
import { turn } from "./turn.ts";

export const T = "type.googleapis.com/t.T";
export const LIST = "type.googleapis.com/t.TCollection";
export const REDIRECT = "type.googleapis.com/xds.core.v3.ResourceLocator";

/** A name of an authority. */
export const of = (authority: string, id: string): string => `xdstp://${authority}/t.T/${id}`;

/** A resource whose content is its text. */
export function resource(name: string, text: string, version = text): Resource {
  return { name, version, payload: { typeUrl: T, value: new TextEncoder().encode(text) } };
}

/** A resource that leads to a locator. */
export function redirect(name: string, to: string, version = to): Resource {
  return { name, version, payload: { typeUrl: REDIRECT, value: toBinary(ResourceLocatorSchema, create(ResourceLocatorSchema, locatorInit(to))) } };
}

function locatorInit(to: string): Parameters<typeof create<typeof ResourceLocatorSchema>>[1] {
  const parsed = parseLocator(to);
  if (!parsed.ok) throw new Error(parsed.error.message);
  return initOf(messageFromLocator(parsed.value));
}

function initOf({ scheme = 0, id = "", authority = "", resourceType = "", exactContext, directives = [] }: ResourceLocatorMessage): NonNullable<Parameters<typeof create<typeof ResourceLocatorSchema>>[1]> {
  const schemes = { XDSTP: 0, HTTP: 1, FILE: 2 } as const;
  return {
    scheme: typeof scheme === "number" ? scheme : schemes[scheme], id, authority, resourceType,
    contextParamSpecifier: { case: "exactContext", value: { params: { ...exactContext?.params } } },
    directives: directives.map(({ alt, entry }) => ({ directive: alt === undefined ? { case: "entry" as const, value: entry ?? "" } : { case: "alt" as const, value: initOf(alt) } })),
  };
}

export interface Scene {
  readonly cache: Cache;
  readonly federation: Federation;
  readonly clock: FakeClock;
  readonly servers: Readonly<Record<string, StoreServer>>;
  /** Asks for a name as a reader does. */
  readonly watch: (name: string, typeUrl?: string) => Watched;
}

export interface Watched {
  readonly topic: Topic;
  /** `text`, `text (why it may be old)`, `- why there is none`, `?` for not known yet. */
  readonly now: string;
  /** Texts of all members, by last part of the name. */
  readonly members: string;
  close(): void;
}

/** A federation of one server for each authority, which has its name; `default` is for all others. */
export async function scene(authorities: readonly string[], options: Partial<FederationOptions> = {}): Promise<Scene> {
  const clock = createFakeClock();
  const servers = Object.fromEntries(authorities.map((authority) => [authority, createStoreServer(authority)]));
  const sources = Object.entries(servers).map(([authority, server]) => ({ servers: [server], ...(authority !== "default" && { authorities: [authority] }) }));
  const federation = createFederation({ sources, clock, random: () => 0, ...options });
  const cache = createCache({ clock, directives: true, wildcard: (_, name) => federation.inWildcard(name) });
  cache.addFeed(federation);
  onTestFinished(() => cache.close());
  await turn();
  return { cache, federation, clock, servers, watch: (name, typeUrl = T) => watched(cache, typeUrl, name) };
}

function watched(cache: Cache, typeUrl: string, name: string): Watched {
  const watcher = { wake: () => undefined };
  const topic = cache.topic(typeUrl, { name });
  topic.watch(watcher);
  return {
    topic,
    get now() { return shown(topic); },
    get members() { return topic.members().flatMap((entry) => (entry.resource === undefined ? [] : `${entry.name.replace(/^.*\//, "")}=${text(entry.resource)}`)).sort().join(" "); },
    close: () => { topic.unwatch(watcher); },
  };
}

function shown(topic: Topic): string {
  const [entry] = topic.members();
  const { stale, settled } = topic;
  if (entry?.resource !== undefined) return stale === undefined ? text(entry.resource) : `${text(entry.resource)} (${stale.text})`;
  const why = stale ?? entry?.error;
  if (why !== undefined) return `- ${why.text}`;
  return settled ? "-" : "?";
}

function text({ payload }: Resource): string {
  return new TextDecoder().decode(payload.value);
}
