import type { Clock } from "@xdstp/core";
import {
  type FollowedState,
  followResource,
  type FollowOptions,
} from "@xdstp/transport-http/client";

import type { StateStore, StoredResource } from "./state-store.ts";

/** One resource that several watches follow by one request at a time. */
export interface SharedResource {
  readonly followed: FollowedState;
  /** The state of an earlier client. undefined: there is none, or it is not loaded yet. */
  readonly stored: StoredResource | undefined;
  /** Calls back after each change. Returns a function that ends this; the last one ends all requests. */
  listen(listener: () => void): () => void;
  /** Saves the present state, once a watch has accepted it. */
  accept(): void;
}

/** Options of {@link shareResource}. */
export interface ShareOptions {
  /** Options for the requests, with the URL. */
  readonly follow: FollowOptions;
  /** undefined: nothing is kept. */
  readonly store: StateStore | undefined;
  readonly clock: Clock;
  /** Called when the store fails. */
  readonly onStoreError: (error: unknown) => void;
  /** Called when the last listener has ended. */
  readonly onUnused: () => void;
}

/** Follows a resource, and loads what is stored of it. */
export function shareResource(options: ShareOptions): SharedResource {
  const { follow, store, clock, onStoreError, onUnused } = options;
  const key = `${follow.form ?? ""} ${follow.url}`;
  const listeners = new Set<() => void>();
  let stored: StoredResource | undefined;
  let saved: Uint8Array | undefined;
  const changed = (): void => {
    for (const listener of [...listeners]) listener();
  };
  const resource = followResource(follow, (state) => {
    if (state.kind === "missing") void store?.remove(key).catch(onStoreError);
    changed();
  });
  void store?.load(key).then((loaded) => {
    if (loaded === undefined || hasExpired(loaded, clock.wallTime())) return;
    stored = loaded;
    if (resource.state.kind === "unknown" && listeners.size > 0) changed();
  }, onStoreError);
  return {
    get followed() {
      return resource.state;
    },
    get stored() {
      return stored;
    },
    listen(listener) {
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        resource.close();
        onUnused();
      };
    },
    accept() {
      const { state } = resource;
      if (store === undefined || state.kind !== "found" || saved === state.body) return;
      saved = state.body;
      const { version, body, ttlMs, noStore } = state;
      const work = noStore
        ? store.remove(key)
        : store.save(key, {
            version,
            body,
            savedAt: clock.wallTime(),
            ...(ttlMs !== undefined && { ttlMs }),
          });
      work.catch(onStoreError);
    },
  };
}

function hasExpired({ savedAt, ttlMs }: StoredResource, now: number): boolean {
  return ttlMs !== undefined && now - savedAt >= ttlMs;
}
