import { type Clock, isSameError, systemClock, XdsError } from "@xdstp/core";

import type { FetchLike } from "./fetch-like.ts";
import { pollUrl, type PollOptions, type UrlPoll } from "./poll-url.ts";
import { createSeenPositions } from "./seen-positions.ts";

/** Options of {@link followResource}. Only `url` is required. */
export interface FollowOptions {
  /** The URL of the resource: `https://HOST/TYPE/ID?params`. Directives after `#` are not sent. */
  readonly url: string;
  /** The form of the content, in the URL. Default: the server chooses it by the header `accept`. */
  readonly form?: "json" | "yaml" | "protobuf";
  /**
   * False: the server is not asked to hold requests; the resource is requested when the answer
   * before is no longer fresh, as from a server without long polls. Default: true.
   */
  readonly longPoll?: boolean;
  /**
   * True: changes come as Server-Sent Events, over one request that stays open, for networks that do
   * not let long polls through. A server without them is asked as with `longPoll: false`, which has
   * precedence. The content is JSON or protobuf. Default: false.
   */
  readonly events?: boolean;
  /** Headers of each request, for instance `authorization`. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Milliseconds between two requests to a server that has no long polls and gives no `max-age`; up
   * to as many again are added at random. Default 5,000.
   */
  readonly refreshMs?: number;
  /**
   * Milliseconds for an answer, and for the next event or comment of an event stream. A server holds
   * a long poll for 25,000, and sends a comment after 15,000. Default 40,000.
   */
  readonly answerMs?: number;
  /** The maximum size of an answer in bytes, and of an event in characters. Default 64 MiB. */
  readonly answerBytes?: number;
  /** Sends a request. Default: `fetch` of the platform. */
  readonly fetch?: FetchLike;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Returns a number from 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /**
   * Called after each answer that says that the resource is unchanged (204, 304, or the same
   * content). Default: nothing.
   */
  readonly onConfirmed?: () => void;
}

/** The state of a resource, as its follower knows it. */
export type FollowedState =
  /** Nothing is known yet. `error`: the reason why requests fail at present. */
  | { readonly kind: "unknown"; readonly error: XdsError | undefined }
  | {
      readonly kind: "found";
      /** The version. Empty: the server says none. */
      readonly version: string;
      /** The resource, in the form that `mediaType` names. */
      readonly body: Uint8Array;
      /** As `content-type` has it, without parameters. */
      readonly mediaType: string;
      /** The TTL in milliseconds; when it has expired, the resource is missing. Absent: it has none. */
      readonly ttlMs: number | undefined;
      /** True: the resource must not be stored (`do_not_cache`). */
      readonly noStore: boolean;
      /** The reason why requests fail at present; the resource stays. Absent: they do not fail. */
      readonly error: XdsError | undefined;
    }
  /** It does not exist, was removed, or its TTL has expired. */
  | { readonly kind: "missing"; readonly error: XdsError };

/** A resource that is followed. */
export interface FollowedResource {
  /** The present state. */
  readonly state: FollowedState;
  /** Ends all requests. The listener is not called again. */
  close(): void;
}

/** The number of redirects that are followed for one resource (C-REDIR-4). */
const HOPS = 5;

/**
 * Follows the resource of a URL, over redirects, and calls back with each state, beginning with the
 * first that is known. Each URL on the way is followed, so a change of a redirect is seen too
 * (B-HTTP-8).
 *
 * A request that fails changes nothing but `error`: the resource stays, and the next request comes
 * after a pause that grows (S-HTTP-9). An answer that a cache has stored, and that is older than one
 * before from the same process of the server, changes nothing (S-HTTP-14).
 * Throws an XdsError, INVALID_ARGUMENT, for a URL that is not one of HTTP, and for `events` with YAML.
 */
export function followResource(
  options: FollowOptions,
  onState: (state: FollowedState) => void,
): FollowedResource {
  const { longPoll = true } = options;
  return followSwitchable({ ...options, longPoll: () => longPoll }, onState);
}

/** A resource whose requests can become long polls. */
export interface SwitchableResource extends FollowedResource {
  /** Ends the pauses before the next requests. */
  askNow(): void;
}

/**
 * Follows a resource as {@link followResource} does.
 * @param options - `longPoll` is called before each request, so it may begin to return true
 */
export function followSwitchable(
  options: Omit<FollowOptions, "longPoll"> & { readonly longPoll: () => boolean },
  onState: (state: FollowedState) => void,
): SwitchableResource {
  const start = checkUrl(options.url);
  if (options.events === true && options.form === "yaml")
    throw new XdsError("INVALID_ARGUMENT", "events have JSON or protobuf; leave the form yaml out");
  const poll: PollOptions = {
    form: options.form,
    longPoll: options.longPoll,
    events: options.events ?? false,
    headers: options.headers ?? {},
    refreshMs: options.refreshMs ?? 5_000,
    answerMs: options.answerMs ?? 40_000,
    answerBytes: options.answerBytes ?? 64 * 1024 * 1024,
    // Called as a function of its own: browsers reject it as a method of another object.
    fetch: options.fetch ?? (async (url, init) => fetch(url, init)),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
    onConfirmed: options.onConfirmed ?? (() => undefined),
    seen: createSeenPositions(),
  };
  const polls = new Map<string, UrlPoll>();
  let state: FollowedState = { kind: "unknown", error: undefined };
  let isClosed = false;
  const update = (): void => {
    if (isClosed) return;
    const { used, state: next } = walk(start, (url) => {
      const known = polls.get(url) ?? pollUrl(url, poll, update);
      polls.set(url, known);
      return known;
    });
    for (const [url, known] of polls)
      if (!used.has(url)) {
        known.close();
        polls.delete(url);
      }
    // A resource stays in use until the target of a redirect is known.
    const shown =
      next.kind === "unknown" && state.kind !== "unknown" ? stale(state, next.error) : next;
    if (isSame(state, shown)) return;
    state = shown;
    onState(state);
  };
  polls.set(start, pollUrl(start, poll, update));
  return {
    get state() {
      return state;
    },
    askNow() {
      for (const known of polls.values()) known.askNow();
    },
    close() {
      isClosed = true;
      for (const known of polls.values()) known.close();
    },
  };
}

/** Walks from a URL over redirects to the resource. */
function walk(
  start: string,
  pollOf: (url: string) => UrlPoll,
): { readonly used: ReadonlySet<string>; readonly state: FollowedState } {
  const used = new Set<string>();
  let failure: XdsError | undefined;
  for (let url = start; ;) {
    if (used.has(url)) return { used, state: unfollowable(`${url} leads to itself`) };
    if (used.size > HOPS) return { used, state: unfollowable(`more than ${HOPS} redirects`) };
    used.add(url);
    const poll = pollOf(url);
    failure ??= poll.failure;
    const { answer } = poll;
    if (answer === undefined) return { used, state: { kind: "unknown", error: failure } };
    if (answer.kind === "missing") return { used, state: answer };
    if (answer.kind === "found") return { used, state: { ...answer, error: failure } };
    url = answer.location;
  }
}

function unfollowable(reason: string): FollowedState {
  const error = new XdsError("FAILED_PRECONDITION", `the redirect cannot be followed: ${reason}`, {
    rule: "B-HTTP-8",
  });
  return { kind: "unknown", error };
}

function stale(state: FollowedState, error: XdsError | undefined): FollowedState {
  return state.kind === "found" ? { ...state, error } : state;
}

function isSame(one: FollowedState, other: FollowedState): boolean {
  const isSameContent =
    one.kind !== "found" ||
    (other.kind === "found" && one.version === other.version && one.body === other.body);
  return one.kind === other.kind && isSameContent && isSameError(one.error, other.error);
}

/** Returns the URL without its fragment, which is never sent (B-HTTP-1). */
function checkUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${JSON.stringify(text)} is not a URL of HTTP; give https://HOST/TYPE/ID`,
    );
  url.hash = "";
  return url.href;
}
