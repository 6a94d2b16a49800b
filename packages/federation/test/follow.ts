import { createCache, type Cache } from "@xdstp/cache";
import type { Interest, ResourceFeed, ResourceSink } from "@xdstp/core";
import { onTestFinished } from "vitest";

import { followList } from "../src/list/follow-list.ts";
import type { FollowedList, FollowListOptions, ListMember } from "../src/list/list-member.ts";
import { listOf, listUrl, memberUrl } from "./lists.ts";
import { turn } from "./turn.ts";

/** A cache like that of a client, filled by the test, and its subscriptions. */
export interface Scene {
  readonly cache: Cache;
  readonly sink: ResourceSink;
  /** The subscribed names of lists and members. */
  readonly wanted: Set<string>;
  /** Subscriptions (`+`) and unsubscriptions (`-`), in order. */
  readonly told: string[];
  putList(name: string, ...entries: readonly Uint8Array[]): void;
  put(name: string, text: string, version?: string): void;
  remove(name: string): void;
}

/** Creates a cache that a feed fills on demand. */
export async function useScene(): Promise<Scene> {
  const cache = createCache({ directives: true, wildcard: () => true });
  onTestFinished(() => cache.close());
  const wanted = new Set<string>();
  const told: string[] = [];
  const holder: { sink?: ResourceSink } = {};
  const feed: ResourceFeed = {
    run(sink, signal) {
      holder.sink = sink;
      return new Promise((resolve) => {
        signal.addEventListener(
          "abort",
          () => {
            resolve();
          },
          { once: true },
        );
      });
    },
    want(_, added: readonly Interest[], dropped: readonly Interest[]) {
      for (const { name } of dropped) {
        wanted.delete(name);
        told.push(`-${name}`);
      }
      for (const { name } of added) {
        wanted.add(name);
        told.push(`+${name}`);
      }
    },
  };
  cache.addFeed(feed);
  await turn();
  const { sink } = holder;
  if (sink === undefined) throw new Error("the feed does not run");
  let lists = 0;
  const put = (typeUrl: string, name: string, value: Uint8Array, version: string): void => {
    void sink.commit({
      put: [{ typeUrl, as: name, resource: { name, version, payload: { typeUrl, value } } }],
    });
  };
  return {
    cache,
    sink,
    wanted,
    told,
    putList(name, ...entries) {
      put(listUrl, name, listOf(...entries), `list ${++lists}`);
    },
    put(name, text, version = "1") {
      put(memberUrl, name, Buffer.from(text), version);
    },
    remove(name) {
      void sink.commit({ remove: [{ typeUrl: memberUrl, name }] });
    },
  };
}

/** Follows a list until the test ends. */
export function useList(
  { cache }: Scene,
  name: string,
  options: FollowListOptions = {},
): FollowedList & { readonly wakes: number } {
  const watcher = {
    wakes: 0,
    wake() {
      this.wakes++;
    },
  };
  const list = followList(cache, memberUrl, { name }, watcher, options);
  onTestFinished(() => {
    list.close();
  });
  return Object.defineProperty(list, "wakes", { get: () => watcher.wakes }) as FollowedList & {
    readonly wakes: number;
  };
}

/** Prints a member as `name=text`, with its state if it is not `held`, and `!` with its error. */
export function show({ name, state, resource, version, error }: ListMember): string {
  const what =
    resource === undefined
      ? ` ${state}`
      : `=${Buffer.from(resource.payload.value).toString()}@${version}`;
  return `${name.slice(name.lastIndexOf("/") + 1)}${what}${error === undefined ? "" : ` !${error.code}`}`;
}
