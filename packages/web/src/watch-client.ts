import { type Clock, isSameError, systemClock, XdsError } from "@xdstp/core";

import type { LocatedResource, ResourceOrigin } from "./resource-origin.ts";
import { type SharedResource, shareResource } from "./shared-resource.ts";
import { createStateStore, type StateStore } from "./state-store.ts";
import { type Content, nextState, rejection, type WatchState } from "./watch-state.ts";
import type { ValueOf, WebType } from "./web-type.ts";

/** The options that each client of this package has. */
export interface WebOptions {
  /**
   * Keeps the last state of each resource, for a start without a network; false: nothing is kept.
   * Default: {@link createStateStore} where the runtime has IndexedDB.
   */
  readonly store?: StateStore | false;
  /**
   * Called with each resource that a watch rejects, with the errors of listeners, and with those of
   * the store. It must not throw. Default: `console.error`.
   */
  readonly onError?: (error: XdsError) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Options of a watch. */
export interface WebWatchOptions<T, D> {
  /** The value while no resource is known, or it is missing. Default: undefined. */
  readonly default?: D;
  /**
   * Checks a value. Returns undefined to accept it, else the reason of the rejection; an exception
   * rejects it too. The value before stays. Over a WebSocket the server is sent a NACK with the
   * reason (C-ACK-5); over HTTP it does not learn of it (B-HTTP-12).
   */
  readonly validate?: (value: T) => string | Error | undefined;
}

/** A watch on one resource. */
export interface WebWatch<T, D> {
  /** The present state. */
  readonly state: WatchState<T, D>;
  /** Ends the watch: its listener is not called again. */
  close(): void;
}

/** Reads typed configuration from a server, and keeps it up to date. */
export interface WebClient {
  /**
   * Watches a resource. Watches of one name and form share their requests. The listener is called
   * with each state after the first, which is {@link WebWatch.state} at once.
   * Throws an XdsError: INVALID_ARGUMENT for a name that cannot be requested, UNIMPLEMENTED for a
   * glob (B-HTTP-3), or for JSON over a WebSocket, FAILED_PRECONDITION after `close`.
   */
  watch<S extends WebType<unknown>, D = undefined>(
    type: S,
    name: string,
    listener: (state: WatchState<ValueOf<S>, D>) => void,
    options?: WebWatchOptions<ValueOf<S>, D>,
  ): WebWatch<ValueOf<S>, D>;
  /** Ends all watches. */
  close(): void;
}

/** Creates a client whose resources come from an origin. */
export function createWatchClient(
  origin: ResourceOrigin,
  { clock = systemClock, onError = reportError, store = defaultStore() }: WebOptions,
): WebClient {
  const resources = new Map<string, SharedResource>();
  const watches = new Set<{ close(): void }>();
  let isClosed = false;

  const share = (located: LocatedResource): SharedResource => {
    const { key } = located;
    const known = resources.get(key);
    if (known !== undefined) return known;
    const shared = shareResource({
      located,
      store: store === false ? undefined : store,
      clock,
      onStoreError: (error) => {
        onError(XdsError.from(error));
      },
      onUnused: () => {
        resources.delete(key);
      },
    });
    resources.set(key, shared);
    return shared;
  };

  return {
    watch<S extends WebType<unknown>, D = undefined>(
      type: S,
      name: string,
      listener: (state: WatchState<ValueOf<S>, D>) => void,
      watching: WebWatchOptions<ValueOf<S>, D> = {},
    ) {
      if (isClosed) throw new XdsError("FAILED_PRECONDITION", "the client is closed");
      const located = origin.locate(type, name);
      const watch: WebWatch<ValueOf<S>, D> = watchResource({
        shared: share(located),
        label: located.label,
        type: type as WebType<ValueOf<S>>,
        listener,
        watching,
        onError,
        onClose: () => watches.delete(watch),
      });
      watches.add(watch);
      return watch;
    },
    close() {
      isClosed = true;
      for (const watch of watches) watch.close();
      origin.close();
    },
  };
}

function watchResource<T, D>({
  shared,
  label,
  type,
  listener,
  watching: { validate, default: fallback },
  onError,
  onClose,
}: {
  readonly shared: SharedResource;
  readonly label: string;
  readonly type: WebType<T>;
  readonly listener: (state: WatchState<T, D>) => void;
  readonly watching: WebWatchOptions<T, D>;
  readonly onError: (error: XdsError) => void;
  readonly onClose: () => void;
}): WebWatch<T, D> {
  const contents = new WeakMap<Uint8Array, Content<T>>();
  const read = (body: Uint8Array): Content<T> => {
    const known = contents.get(body);
    if (known !== undefined) return known;
    const content = readContent(type, body, validate, label);
    contents.set(body, content);
    if (content.kind === "rejected") onError(content.error);
    return content;
  };
  // Without a default the type is undefined.
  let state: WatchState<T, D> = { phase: "waiting", value: fallback as D, error: undefined };
  const update = (): WatchState<T, D> => {
    const { followed, stored } = shared;
    const next = nextState(state, { followed, stored, fallback: fallback as D, read });
    if (followed.kind === "found" && read(followed.body).kind === "accepted") shared.accept();
    return next;
  };
  const end = shared.listen({
    onChange() {
      const next = update();
      if (isSame(state, next)) return;
      state = next;
      try {
        listener(state);
      } catch (error) {
        onError(XdsError.from(error));
      }
    },
    check(body) {
      const content = read(body);
      return content.kind === "rejected" ? content.error : undefined;
    },
  });
  state = update();
  return {
    get state() {
      return state;
    },
    close() {
      onClose();
      end();
    },
  };
}

function readContent<T>(
  type: WebType<T>,
  body: Uint8Array,
  validate: ((value: T) => string | Error | undefined) | undefined,
  label: string,
): Content<T> {
  try {
    const value = type.decode(body);
    const reason = validate?.(value);
    if (reason === undefined) return { kind: "accepted", value };
    throw typeof reason === "string" ? new Error(reason) : reason;
  } catch (error) {
    return { kind: "rejected", error: rejection(label, error) };
  }
}

function isSame<T, D>(one: WatchState<T, D>, other: WatchState<T, D>): boolean {
  return (
    one.phase === other.phase &&
    one.value === other.value &&
    isSameError(one.error, other.error) &&
    ("version" in one ? one.version : "") === ("version" in other ? other.version : "")
  );
}

function defaultStore(): StateStore | false {
  return "indexedDB" in globalThis ? createStateStore() : false;
}

function reportError(error: XdsError): void {
  console.error(error);
}
