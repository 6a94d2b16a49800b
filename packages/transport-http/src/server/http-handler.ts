import type { Registry } from "@bufbuild/protobuf";
import { type Clock, type ResourceSource, systemClock, XdsError } from "@xdstp/core";

import { type AnswerKind, cacheControlOf, refreshMsOf } from "./cache-control.ts";
import { type EventForm, eventsOf } from "./event-stream.ts";
import { failure, failureOf } from "./failure.ts";
import {
  createFollowedNames,
  type FollowedName,
  type NameState,
  versionOf,
} from "./followed-names.ts";
import { defaultHttpLimits, type HttpLimits } from "./http-limits.ts";
import type { HttpAnswer, HttpCaller, HttpRequest, HttpView } from "./http-request.ts";
import { readTarget, type Target } from "./read-target.ts";
import { isRedirect, locationOf } from "./redirect-location.ts";
import { type ContentWriter, createContentWriter } from "./write-content.ts";

/** Options of {@link createHttpHandler}. */
export interface HttpHandlerOptions {
  /** The resources. */
  readonly source: ResourceSource;
  /**
   * Returns what a caller may see: the same source for callers with equal rights, as
   * `createSharedFilters` of `@xdstp/policy` gives it, since each source is followed for itself. To
   * deny access, throw an XdsError with PERMISSION_DENIED or UNAUTHENTICATED. An XdsError with
   * UNAVAILABLE is answered with status 503 and its text, which the client can read; any other
   * exception with status 503 and a fixed text. Default: all of `source`.
   */
  readonly viewOf?: (caller: HttpCaller, signal: AbortSignal) => HttpView | Promise<HttpView>;
  /**
   * The authority of the names, for a server that is reached under another name. Default: the host
   * of the request.
   */
  readonly authority?: string;
  /** The types of the resources, for JSON and YAML. Default: none, so that answers are protobuf. */
  readonly registry?: Registry;
  /**
   * The origin whose pages may read the answers, such as `https://app.example`; false: pages may
   * not. Default: `*`, every page.
   */
  readonly allowOrigin?: string | false;
  /** Limits that replace the defaults. */
  readonly limits?: Partial<HttpLimits>;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** One name that clients have requested lately. */
export interface HttpNameStatus {
  /** The type URL. */
  readonly typeUrl: string;
  /** The xdstp name. */
  readonly name: string;
  /** The version that is served now. Empty: the resource does not exist, or is not known yet. */
  readonly version: string;
  /** The number of requests that wait for a change. */
  readonly waiting: number;
  /** Says that the versions which clients have accepted are not known: this transport has no ACK (B-HTTP-12). */
  readonly acknowledged: "not reported over HTTP";
}

/** Serves resources by GET. */
export interface HttpHandler {
  /** Answers a request. Never rejects. */
  handle(request: HttpRequest): Promise<HttpAnswer>;
  /** The number of requests that wait for a change. */
  readonly waiting: number;
  /** The number of answers since the start, by status code of HTTP. */
  readonly answered: ReadonlyMap<number, number>;
  /** Returns the names that are requested, or were in the last `keepMs`. */
  status(): readonly HttpNameStatus[];
  /** Answers all requests that wait, and rejects others with status 503. */
  close(): void;
}

/**
 * Creates the server's end of native HTTP (section 27 of the rules): `GET /TYPE/ID?params` for the
 * resource of that name, with `etag` and 304. A request with `after=VERSION` in its URL waits
 * until the version is another one. All clients in the same state send the same URL, so a cache in
 * front of the server makes one request of theirs (S-HTTP-13).
 *
 * It has no I/O of its own; {@link createHttpListener} connects it to an HTTP server of Node.
 */
export function createHttpHandler(options: HttpHandlerOptions): HttpHandler {
  const { clock = systemClock, source } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const viewOf = options.viewOf ?? ((): HttpView => ({ source }));
  const names = createFollowedNames(clock, limits.keepMs);
  const writer = createContentWriter(options.registry);
  const closing = new AbortController();
  const { allowOrigin = "*" } = options;
  const cors: Readonly<Record<string, string>> =
    allowOrigin === false
      ? {}
      : {
          "access-control-allow-origin": allowOrigin,
          "access-control-expose-headers":
            "age, etag, location, retry-after, xds-position, xds-ttl, xds-version",
        };
  const answered = new Map<number, number>();

  /** Waits until something is known of a name. */
  const settled = async (followed: FollowedName, signal: AbortSignal): Promise<KnownState> => {
    const state = await followed.wait(isUnknown, limits.settleMs, signal);
    if (state.kind !== "unknown") return state;
    throw (
      state.error ??
      new XdsError("UNAVAILABLE", `nothing is known of the resource after ${limits.settleMs} ms`)
    );
  };

  const wait = async (
    followed: FollowedName,
    known: KnownState,
    { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  ): Promise<KnownState> => {
    if (names.waiting >= limits.waiting)
      throw new XdsError("UNAVAILABLE", `${limits.waiting} requests wait already`);
    const ttlMs = known.kind === "found" ? known.resource.ttlMs : undefined;
    const version = versionOf(known);
    const state = await followed.wait(
      (now) => now.kind === "unknown" || versionOf(now) === version,
      Math.min(ms, limits.holdMs, refreshMsOf(ttlMs)),
      signal,
    );
    return state.kind === "unknown" ? known : state;
  };

  const get = async (request: HttpRequest, view: HttpView, use: Use): Promise<HttpAnswer> => {
    const authority = options.authority ?? request.host;
    const target = readTarget(request.target, authority);
    // Access may have been decided after the end.
    if (closing.signal.aborted) throw new XdsError("UNAVAILABLE", "the server is closing");
    if (!view.source.ready)
      throw new XdsError("UNAVAILABLE", "the first complete state is not loaded yet");
    const followed = names.follow(view.source, target.typeUrl, target.names);
    use.onEnd(() => {
      followed.release();
    });
    if (followed.keep(view)) use.view = undefined;
    const { revoked } = view;
    // A combined signal costs more than the rest of a poll. Each wait ends when the server closes.
    const signal =
      revoked === undefined ? request.signal : AbortSignal.any([request.signal, revoked]);
    const state = await settled(followed, signal);
    if (request.header("accept")?.includes("text/event-stream") === true) {
      const form = eventFormOf(writer, target);
      if (names.waiting >= limits.waiting)
        throw new XdsError("UNAVAILABLE", `${limits.waiting} requests wait already`);
      use.isLong = true;
      const body = eventsOf(followed, {
        signal: AbortSignal.any([signal, closing.signal]),
        lastId: request.header("last-event-id"),
        commentMs: limits.commentMs,
        form,
        write: (resource) => writer.write(resource, form).body,
        redirectOf: (resource) =>
          isRedirect(resource) ? locationOf(resource, authority, new Map()) : undefined,
      });
      return { status: 200, headers: eventHeaders, body };
    }
    const { form, mediaType } = writer.choose(
      target.typeUrl,
      target.form,
      request.header("accept"),
    );
    const answer = (now: KnownState, kind: AnswerKind): HttpAnswer => {
      const headers = {
        "cache-control": cacheControlOf(now, kind, view.key !== undefined, limits),
        ...(target.form === undefined && { vary: "Accept" }),
        "xds-position": now.position,
      };
      if (now.kind === "missing") return missing(now, target, headers);
      const { resource } = now;
      const { ttlMs } = resource;
      const described = {
        ...headers,
        "xds-version": encodeURIComponent(resource.version),
        ...(ttlMs !== undefined && { "xds-ttl": String(ttlMs / 1_000) }),
      };
      if (isRedirect(resource)) {
        const location = locationOf(resource, authority, transportQuery(target));
        return { status: 302, headers: { ...described, location }, body: undefined };
      }
      const { body, etag } = writer.write(resource, form);
      const tagged = { ...described, etag };
      if (matches(request.header("if-none-match"), etag))
        return { status: 304, headers: tagged, body: undefined };
      return {
        status: 200,
        headers: { ...tagged, "content-type": mediaType, "content-length": String(body.length) },
        body,
      };
    };
    const canWait = request.method === "GET";
    const { after, at } = target;
    if (after === undefined) {
      const present = answer(state, "present");
      const ms = present.status === 304 && canWait ? preferredMs(request.header("prefer")) : 0;
      return ms === 0 ? present : answer(await wait(followed, state, { ms, signal }), "present");
    }
    const isCurrent = versionOf(state) === after;
    const now =
      isCurrent && canWait ? await wait(followed, state, { ms: limits.holdMs, signal }) : state;
    if (versionOf(now) !== after)
      return answer(now, at !== undefined && names.gave(at) ? "change" : "brief");
    const { headers } = answer(now, "unchanged");
    return {
      status: 204,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => !name.startsWith("content-")),
      ),
      body: undefined,
    };
  };

  const dispatch = async (request: HttpRequest, use: Use): Promise<HttpAnswer> => {
    const { method, target, signal } = request;
    if (method === "OPTIONS") return { status: 204, headers: preflight, body: undefined };
    if (method !== "GET" && method !== "HEAD")
      return failure(405, "UNIMPLEMENTED", "send a GET", { allow: "GET, HEAD, OPTIONS" });
    if (target.length > limits.targetLength)
      return failure(
        414,
        "INVALID_ARGUMENT",
        `the target is longer than ${limits.targetLength} characters`,
      );
    const view = await viewFor(viewOf, request, signal);
    use.view = view;
    const answer = await get(request, view, use);
    if (view.revoked?.aborted === true)
      throw new XdsError("PERMISSION_DENIED", "access was revoked");
    return answer;
  };

  return {
    async handle(request) {
      const use = createUse();
      let answer: HttpAnswer;
      try {
        answer = await dispatch(request, use);
      } catch (error) {
        answer = failureOf(error);
      }
      if (!use.isLong || request.signal.aborted) use.end();
      else request.signal.addEventListener("abort", use.end, { once: true });
      const { status, headers, body } = answer;
      answered.set(status, (answered.get(status) ?? 0) + 1);
      const all = { ...headers, ...cors };
      return { status, headers: all, body: request.method === "HEAD" ? undefined : body };
    },
    get waiting() {
      return names.waiting;
    },
    answered,
    status: () =>
      names.list().map(({ typeUrl, name, followed: { state, waiting } }) => ({
        typeUrl,
        name,
        version: versionOf(state),
        waiting,
        acknowledged: "not reported over HTTP",
      })),
    close() {
      closing.abort();
      names.close();
    },
  };
}

type KnownState = Exclude<NameState, { readonly kind: "unknown" }>;

/** The objects that one request uses until its answer is known; an event stream, until it ends. */
interface Use {
  isLong: boolean;
  /** The view to release at the end. undefined: there is none, or its name keeps it. */
  view: HttpView | undefined;
  onEnd(callback: () => void): void;
  readonly end: () => void;
}

function createUse(): Use {
  const callbacks: (() => void)[] = [];
  const use: Use = {
    isLong: false,
    view: undefined,
    onEnd: (callback) => {
      callbacks.push(callback);
    },
    end: () => {
      for (const callback of callbacks.splice(0).reverse()) callback();
      use.view?.release?.();
      use.view = undefined;
    },
  };
  return use;
}

const eventHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  vary: "Accept",
  // nginx would collect the events in a buffer.
  "x-accel-buffering": "no",
};

const preflight = {
  "access-control-allow-methods": "GET, HEAD",
  "access-control-allow-headers": "authorization, if-none-match, last-event-id, prefer",
  "access-control-max-age": "86400",
};

/** Returns the form of the content of events: JSON, unless the URL says `form=protobuf`. */
function eventFormOf(writer: ContentWriter, { typeUrl, form = "json" }: Target): EventForm {
  const chosen = writer.choose(typeUrl, form, undefined).form;
  if (chosen !== "yaml") return chosen;
  throw new XdsError("UNIMPLEMENTED", "events have form=json or form=protobuf", {
    rule: "S-HTTP-2",
  });
}

function isUnknown(state: NameState): boolean {
  return state.kind === "unknown" && state.error === undefined;
}

async function viewFor(
  viewOf: (caller: HttpCaller, signal: AbortSignal) => HttpView | Promise<HttpView>,
  caller: HttpCaller,
  signal: AbortSignal,
): Promise<HttpView> {
  try {
    return await viewOf(caller, signal);
  } catch (error) {
    const code = error instanceof XdsError ? error.code : undefined;
    if (code === "UNAVAILABLE") throw error;
    // A client does not need to know why; the program has its own log.
    if (code === "PERMISSION_DENIED") throw new XdsError(code, "not allowed");
    if (code === "UNAUTHENTICATED") throw new XdsError(code, "not authenticated");
    throw new XdsError("UNAVAILABLE", "access cannot be decided now", { cause: error });
  }
}

function missing(
  { wasRemoved, error }: Extract<KnownState, { readonly kind: "missing" }>,
  { names: [name = ""] }: Target,
  headers: Readonly<Record<string, string>>,
): HttpAnswer {
  if (error !== undefined && isTransient(error)) return failureOf(error);
  const text = error?.text ?? `${name} ${wasRemoved ? "was removed" : "does not exist"}`;
  return failure(wasRemoved ? 410 : 404, error?.code ?? "NOT_FOUND", text, headers);
}

function isTransient({ code }: XdsError): boolean {
  return ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"].includes(code);
}

/** Parameters that a client which follows a redirect by itself has to send to its target. */
function transportQuery({ form, after, at }: Target): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  if (after !== undefined) query.set("after", after);
  if (at !== undefined) query.set("at", at);
  if (form !== undefined) query.set("form", form);
  return query;
}

/** Compares tags weakly: caches that compress an answer make its tag a weak one. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(",").some((tag) => {
    const text = tag.trim();
    return text === "*" || text === etag || text === `W/${etag}`;
  });
}

/** Reads `prefer: wait=SECONDS` (RFC 7240). 0: the client does not wait. */
function preferredMs(prefer: string | undefined): number {
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(prefer ?? "") ?? [];
  return Number(seconds ?? 0) * 1_000;
}
