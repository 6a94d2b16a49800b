import type { Clock, Timer, XdsError } from "@xdstp/core";
import type { FollowedState } from "@xdstp/transport-http/client";

import type { LocatedResource } from "./resource-origin.ts";
import type { StateStore, StoredResource } from "./state-store.ts";

/** One resource that several watches follow together. */
export interface SharedResource {
  readonly followed: FollowedState;
  /** The state of an earlier client. undefined: there is none, or it is not loaded yet. */
  readonly stored: StoredResource | undefined;
  /** Begins to call a listener. Returns a function that ends this; the last one ends all requests. */
  listen(listener: ResourceListener): () => void;
  /** Saves the present state, once a watch has accepted it. */
  accept(): void;
}

/** The calls of one watch. */
export interface ResourceListener {
  /** `followed` or `stored` has changed. */
  onChange(): void;
  /** Returns the reason why the watch rejects a body. */
  check(body: Uint8Array): XdsError | undefined;
}

/** Options of {@link shareResource}. */
export interface ShareOptions {
  readonly located: LocatedResource;
  /** undefined: nothing is kept. */
  readonly store: StateStore | undefined;
  readonly clock: Clock;
  /** Called when the store fails. */
  readonly onStoreError: (error: unknown) => void;
  /** Called when the last listener has ended. */
  readonly onUnused: () => void;
}

type Found = Extract<FollowedState, { readonly kind: "found" }>;
type StoreChange = (store: StateStore) => Promise<void>;

/** The shortest time from one save of a state to the next save of the same state, in milliseconds. */
const RENEWAL = 60_000;

/** Follows a resource, and loads what is stored of it. */
export function shareResource(options: ShareOptions): SharedResource {
  const { located, store, clock, onStoreError, onUnused } = options;
  const { key } = located;
  const listeners = new Set<ResourceListener>();
  let stored: StoredResource | undefined;
  let expiry: Timer | undefined;
  let saved: { readonly body: Uint8Array; readonly at: number } | undefined;
  let nextChange: StoreChange | undefined;
  let isWriting = false;
  /** Changes the store. While a change before takes its time, only the newest one waits. */
  const write = async (change: StoreChange): Promise<void> => {
    if (store === undefined) return;
    nextChange = change;
    if (isWriting) return;
    isWriting = true;
    for (let next = takeChange(); next !== undefined; next = takeChange())
      await next(store).catch(onStoreError);
    isWriting = false;
  };
  const takeChange = (): StoreChange | undefined => {
    const change = nextChange;
    nextChange = undefined;
    return change;
  };
  const changed = (): void => {
    // A listener may have ended another one.
    for (const listener of [...listeners]) if (listeners.has(listener)) listener.onChange();
  };
  const save = ({ version, body, ttlMs, noStore }: Found): void => {
    saved = { body, at: clock.now() };
    const savedAt = clock.wallTime();
    const kept = { version, body, savedAt, ...(ttlMs !== undefined && { ttlMs }) };
    void write(async (to) => (noStore ? to.remove(key) : to.save(key, kept)));
  };
  const resource = located.follow({
    onState(state) {
      if (state.kind === "missing") {
        saved = undefined;
        void write(async (to) => to.remove(key));
      }
      changed();
    },
    /** Renews the time of what is stored. A state that no watch has accepted is not stored. */
    onConfirmed() {
      const { state } = resource;
      if (state.kind !== "found" || state.noStore || saved?.body !== state.body) return;
      if (clock.now() - saved.at >= RENEWAL) save(state);
    },
    check: (body) =>
      Array.from(listeners, (listener) => listener.check(body)).find(
        (error) => error !== undefined,
      ),
  });
  void store?.load(key).then((loaded) => {
    if (loaded === undefined || listeners.size === 0) return;
    const leftMs = leftOf(loaded, clock.wallTime());
    if (leftMs <= 0) return;
    stored = loaded;
    if (loaded.ttlMs !== undefined)
      expiry = clock.after(leftMs, () => {
        stored = undefined;
        changed();
      });
    changed();
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
        expiry?.cancel();
        resource.close();
        onUnused();
      };
    },
    accept() {
      const { state } = resource;
      if (state.kind === "found" && saved?.body !== state.body) save(state);
    },
  };
}

/**
 * Returns the milliseconds of the TTL that are left. The wall clock may have been set back since
 * the resource was saved; then at most the whole TTL is left.
 */
function leftOf({ savedAt, ttlMs = Infinity }: StoredResource, now: number): number {
  return Math.min(ttlMs, savedAt + ttlMs - now);
}
