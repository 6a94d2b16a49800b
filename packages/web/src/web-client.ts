import { type Clock, isSameError, systemClock, XdsError } from "@xdstp/core";
import { type FollowOptions, type OriginOf, urlOfName } from "@xdstp/transport-http/client";

import { type SharedResource, shareResource } from "./shared-resource.ts";
import { createStateStore, type StateStore } from "./state-store.ts";
import { type Content, nextState, rejection, type WatchState } from "./watch-state.ts";
import type { ValueOf, WebType } from "./web-type.ts";

/** Options of {@link createWebClient}. All are optional. */
export interface WebClientOptions extends Pick<
  FollowOptions,
  "headers" | "longPoll" | "refreshMs" | "answerMs" | "answerBytes" | "fetch" | "random"
> {
  /**
   * The origin of the server, such as `https://config.example`, for all names; or a function that
   * returns the one of an authority, null for opaque names. Default: `https://AUTHORITY`.
   */
  readonly origin?: string | OriginOf;
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
   * rejects it too. The value before stays. The server does not learn of it: HTTP has no NACK
   * (B-HTTP-12).
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

/** Reads typed configuration over HTTP, and keeps it up to date. */
export interface WebClient {
  /**
   * Watches a resource. Watches of one name and form share their requests. The listener is called
   * with each state after the first, which is {@link WebWatch.state} at once.
   * Throws an XdsError: INVALID_ARGUMENT for a name that cannot be requested, UNIMPLEMENTED for a
   * glob (B-HTTP-3), FAILED_PRECONDITION after `close`.
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

/**
 * Creates a client for browsers and other runtimes that have `fetch`. It reads from a server of
 * native HTTP (`xdstp serve --http`, `@xdstp/transport-http/server`), also through caches and CDNs.
 */
export function createWebClient(options: WebClientOptions = {}): WebClient {
  const { clock = systemClock, onError = reportError } = options;
  const originOf = originsOf(options.origin);
  const store = options.store ?? defaultStore();
  const resources = new Map<string, SharedResource>();
  const watches = new Set<{ close(): void }>();
  let isClosed = false;

  const share = (url: string, form: "json" | "protobuf"): SharedResource => {
    const key = `${form} ${url}`;
    const known = resources.get(key);
    if (known !== undefined) return known;
    const shared = shareResource({
      follow: { ...followOptions(options), url, form, clock },
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
      const url = urlOfName(type.typeUrl, name, originOf);
      const watch = watchResource({
        shared: share(url, type.form),
        url,
        type: type as WebType<ValueOf<S>>,
        listener,
        watching,
        onError,
      });
      watches.add(watch);
      return {
        get state() {
          return watch.state;
        },
        close() {
          watches.delete(watch);
          watch.close();
        },
      };
    },
    close() {
      isClosed = true;
      for (const watch of watches) watch.close();
      watches.clear();
    },
  };
}

function watchResource<T, D>({
  shared,
  url,
  type,
  listener,
  watching: { validate, default: fallback },
  onError,
}: {
  readonly shared: SharedResource;
  readonly url: string;
  readonly type: WebType<T>;
  readonly listener: (state: WatchState<T, D>) => void;
  readonly watching: WebWatchOptions<T, D>;
  readonly onError: (error: XdsError) => void;
}): WebWatch<T, D> {
  const contents = new WeakMap<Uint8Array, Content<T>>();
  const read = (body: Uint8Array): Content<T> => {
    const known = contents.get(body);
    if (known !== undefined) return known;
    const content = readContent(type, body, validate, url);
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
  const end = shared.listen(() => {
    const next = update();
    if (isSame(state, next)) return;
    state = next;
    try {
      listener(state);
    } catch (error) {
      onError(XdsError.from(error));
    }
  });
  state = update();
  return {
    get state() {
      return state;
    },
    close: end,
  };
}

function readContent<T>(
  type: WebType<T>,
  body: Uint8Array,
  validate: ((value: T) => string | Error | undefined) | undefined,
  url: string,
): Content<T> {
  try {
    const value = type.decode(body);
    const reason = validate?.(value);
    if (reason === undefined) return { kind: "accepted", value };
    throw typeof reason === "string" ? new Error(reason) : reason;
  } catch (error) {
    return { kind: "rejected", error: rejection(url, error) };
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

function originsOf(origin: WebClientOptions["origin"]): OriginOf {
  if (typeof origin === "function") return origin;
  return (authority) =>
    origin ?? (authority === null || authority === "" ? undefined : `https://${authority}`);
}

function followOptions(options: WebClientOptions): Omit<FollowOptions, "url"> {
  const { headers, longPoll, refreshMs, answerMs, answerBytes, fetch, random } = options;
  return {
    ...(headers !== undefined && { headers }),
    ...(longPoll !== undefined && { longPoll }),
    ...(refreshMs !== undefined && { refreshMs }),
    ...(answerMs !== undefined && { answerMs }),
    ...(answerBytes !== undefined && { answerBytes }),
    ...(fetch !== undefined && { fetch }),
    ...(random !== undefined && { random }),
  };
}

function defaultStore(): StateStore | false {
  return "indexedDB" in globalThis ? createStateStore() : false;
}

function reportError(error: XdsError): void {
  console.error(error);
}
