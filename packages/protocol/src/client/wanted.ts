import { isSameError, type Interest, type Removal, type XdsError } from "@xdstp/core";

/**
 * An interest that the client requests from its server. Its `state` is a value that only `changeName` and
 * `changeCollection` replace: `request` begins again with each stream, `known` and `rejections` outlive it.
 *
 * ```text
 * a name       unsent --sent--> waiting --answered, failed, late--> answered
 * a collection unsent --sent--> waiting --arrived--> partial --whole, idle, failed, overdue--> complete
 *                               waiting --failed, overdue--> silent --arrived--> partial
 *                               complete --came, after it had failed as a whole--> partial
 * either       any --stream-began--> unsent, any --dropped--> dropped, and nothing changes after that
 *
 * known        requested --came, whole--> cached --removed--> missing
 *              any --rejected--> rejected, --failed--> failed, --late--> late or cached, --confirmed--> cached
 * ```
 */
export type Wanted = WantedName | WantedCollection;

/** One name that is requested. */
export interface WantedName extends WantedInterest {
  /** Tells a name from a collection. */
  readonly kind: "name";
  /** Key of the name that its resource came under, where that is another: it is requested by an alias (C-ALIAS-3). Written by the index alone. */
  readonly realName: string | undefined;
  /** Its state. Written by `changeName` alone. */
  readonly state: NameState;
}

/** A glob or `*` that is requested. */
export interface WantedCollection extends WantedInterest {
  /** Which kind of collection it is. */
  readonly kind: "glob" | "wildcard";
  /** Its state. Written by `changeCollection` alone. */
  readonly state: CollectionState;
}

/** What names and collections have in common. */
interface WantedInterest {
  /** What is subscribed. */
  readonly interest: Interest;
  /** Equal for names that are equal (N-40). */
  readonly key: string;
  /** Equal for interests that are equal: the key and the parameters (TP2). */
  readonly id: string;
}

/** The state of a name. */
export interface NameState extends Knowledge {
  /** How far its request is. */
  readonly request: NameRequest;
}

/** The state of a collection. */
export interface CollectionState extends Knowledge {
  /** How far its request is. */
  readonly request: CollectionRequest;
}

/** How far the request of a name is on this stream. */
export type NameRequest =
  /** In no request of this stream yet. */
  | { readonly kind: "unsent" }
  /**
   * In a request of this stream, and not answered. `first`: in the first one of its type, so that every response has taken account of it.
   * `leftOut`: a full state came without it, which was perhaps sent before the server had read the request (C-FULL-3).
   */
  | { readonly kind: "waiting"; readonly first: boolean; readonly leftOut: boolean }
  | { readonly kind: "answered" }
  /** It is not subscribed any more. */
  | { readonly kind: "dropped" };

/** How far the request of a collection is on this stream. */
export type CollectionRequest =
  | { readonly kind: "unsent" }
  /** In a request of this stream, and nothing of it has come. `unseen`: what is cached of it, or was rejected, and was not in the last full state (C-FULL-3). */
  | { readonly kind: "waiting"; readonly first: boolean; readonly unseen: readonly Removal[] }
  /** Something has come, and perhaps not all of it (C-GLOB-9). `members`: keys of what has come; only another one shows that the first answer goes on. It grows in place, since a copy for each response would be quadratic. */
  | {
      readonly kind: "partial";
      readonly first: boolean;
      readonly unseen: readonly Removal[];
      readonly members: Set<string>;
    }
  | { readonly kind: "complete"; readonly first: boolean }
  /** Nothing came in time. The server has had the request since, so the first that comes makes it partial. */
  | { readonly kind: "silent"; readonly first: boolean }
  | { readonly kind: "dropped" };

/** What is known of an interest (C-CSDS-3). */
export interface Knowledge {
  /** The last that was learned. */
  readonly known: Known;
  /** States that were rejected and not made good since, by key: of the name itself, or of members. */
  readonly rejections: ReadonlyMap<string, NotedRejection>;
}

/** The last that was learned of an interest. */
export type Known =
  | (Learned & {
      readonly kind: "requested" | "cached" | "missing" | "late";
      /** Why there is none, or why what is cached may be old. */
      readonly error: XdsError | undefined;
    })
  | (Learned & {
      readonly kind: "rejected" | "failed";
      /** Why it was rejected, or what the server has sent. */
      readonly error: XdsError;
    });

/** When something was learned of an interest, and how often its error has changed. */
interface Learned {
  /** When something of it came last, in milliseconds since the epoch; 0: never (B-CSDS-2). */
  readonly at: number;
  /** Number of times that `error` was to be reported: another one, the same for another version (C-ACK-18), or that it is over. */
  readonly reports: number;
}

/** What is known of something subscribed (C-CSDS-3). `late`: nothing came in time (C-MISS-4). `failed`: the server has sent an error. */
export type WantState = Known["kind"];

/** A state that was rejected. */
export interface NotedRejection {
  /** The name of the resource that was rejected. */
  readonly name: string;
  /** The version that was rejected. Empty: the server gave none. */
  readonly version: string;
  /** Why it was rejected. */
  readonly error: XdsError;
  /** When it was rejected, by `Clock.now()`. */
  readonly moment: number;
}

/** What happens to names and collections alike. */
export type WantedEvent =
  /** A stream has begun: nothing of the one before counts (C-DSUB-8, C-RECON-2). */
  | { readonly kind: "stream-began" }
  /** It is in a request that was sent. */
  | { readonly kind: "sent"; readonly first: boolean }
  /** Resources with these keys were accepted. */
  | { readonly kind: "came"; readonly keys: readonly string[]; readonly at: number }
  /** These do not exist any more. */
  | { readonly kind: "removed"; readonly keys: readonly string[]; readonly at: number }
  /** New states were rejected; what is cached stays (C-ACK-5). At most `limit` of them are kept, by their keys; one without a key is not kept. */
  | {
      readonly kind: "rejected";
      readonly rejections: readonly (readonly [
        key: string | undefined,
        rejection: NotedRejection,
      ])[];
      readonly limit: number;
    }
  /** The server has sent an error of it, or none of it can be had: what is cached stays next to it (C-ERR-4). */
  | { readonly kind: "failed"; readonly error: XdsError }
  /** The server knows what is cached of it, and has sent nothing else in time: what was wrong on an earlier stream, before `since` by `Clock.now()`, is over. */
  | { readonly kind: "confirmed"; readonly since: number }
  | { readonly kind: "dropped" };

/** What happens to a name. */
export type NameEvent =
  | WantedEvent
  /** A response had something for it. */
  | { readonly kind: "answered" }
  /** A full state came without it (C-FULL-3). */
  | { readonly kind: "left-out" }
  /** Nothing came in time (C-MISS-4). `others`: it is cached from another server that is used in place of this one, which may still remove it. */
  | {
      readonly kind: "late";
      readonly at: number;
      readonly error: XdsError | undefined;
      readonly others: boolean;
    };

/** What happens to a collection. */
export type CollectionEvent =
  | WantedEvent
  /** A response had something of it: members with these keys, if it named any. */
  | { readonly kind: "arrived"; readonly keys: readonly string[] }
  /** A full state that was perhaps sent before the server had read the request came without these (C-FULL-3). */
  | { readonly kind: "left-out"; readonly unseen: readonly Removal[] }
  /** All of it is known. `rejected`: the keys that its response had and that were rejected. */
  | { readonly kind: "whole"; readonly rejected: ReadonlySet<string> }
  /** Nothing more has come for some time: that is all (C-GLOB-9). */
  | { readonly kind: "idle" }
  /** Its time is over: it is what has come of it. */
  | { readonly kind: "overdue" };

/** State of a name that was just subscribed. */
export const newName: NameState = {
  request: { kind: "unsent" },
  known: { kind: "requested", at: 0, error: undefined, reports: 0 },
  rejections: new Map(),
};

/** State of a collection that was just subscribed. */
export const newCollection: CollectionState = {
  request: { kind: "unsent" },
  known: newName.known,
  rejections: newName.rejections,
};

/** Applies an event to a name: with `changeCollection` the one place that writes a state. */
export function changeName(wanted: WantedName, event: NameEvent): void {
  const writable: { state: NameState } = wanted;
  writable.state = nextName(wanted.state, wanted.key, event);
}

/** Applies an event to a collection. */
export function changeCollection(wanted: WantedCollection, event: CollectionEvent): void {
  const writable: { state: CollectionState } = wanted;
  writable.state = nextCollection(wanted.state, event);
}

/** It is in a request of this stream, and nothing is concluded of it yet. */
export function isPending({ state: { request } }: Wanted): boolean {
  return request.kind === "waiting" || request.kind === "partial";
}

const ANSWERED: NameRequest = { kind: "answered" };
const NONE: ReadonlyMap<string, NotedRejection> = newName.rejections;

/** The state of a name after an event. `key`: that of the name. */
export function nextName(state: NameState, key: string, event: NameEvent): NameState {
  const { request, known, rejections } = state;
  if (request.kind === "dropped") return state;
  const isWaiting = request.kind === "waiting";
  switch (event.kind) {
    case "stream-began":
      return { request: newName.request, known, rejections };
    case "sent":
      return {
        request: { kind: "waiting", first: event.first, leftOut: false },
        known,
        rejections,
      };
    case "answered":
      return isWaiting ? { request: ANSWERED, known, rejections } : state;
    case "left-out":
      return isWaiting ? { request: { ...request, leftOut: true }, known, rejections } : state;
    case "came":
      return { request, ...cached(state, event) };
    case "removed": {
      // Its own removal also ends what was rejected under the name of which it was an alias.
      const isOwn = event.keys.includes(key);
      const after = cached(isOwn ? { known, rejections: NONE } : state, event);
      return { ...after, request, known: { ...after.known, kind: "missing" } };
    }
    case "rejected":
      return { request, ...rejected(state, event) };
    case "failed":
      return { request: isWaiting ? ANSWERED : request, known: failed(known, event), rejections };
    case "confirmed":
      return { request, ...confirmed(state, event) };
    case "late":
      return { request: isWaiting ? ANSWERED : request, ...late(state, event) };
    case "dropped":
      return { request: { kind: "dropped" }, known: withoutError(known), rejections };
  }
}

/** The state of a collection after an event. */
export function nextCollection(state: CollectionState, event: CollectionEvent): CollectionState {
  const { request, known, rejections } = state;
  if (request.kind === "dropped") return state;
  switch (event.kind) {
    case "stream-began":
      return { request: newCollection.request, known, rejections };
    case "sent":
      return { request: sent(request, event.first), known, rejections };
    case "arrived":
      return { request: arrived(request, event.keys), known, rejections };
    case "left-out":
      return isOpen(request)
        ? { request: { ...request, unseen: event.unseen }, known, rejections }
        : state;
    case "came":
      return { request: beginAgain(state), ...cached(state, event) };
    case "removed":
      // Before anything has come of it, it is not known any better.
      return hasNotBegun(request) && known.kind === "requested"
        ? { request, known, rejections: without(rejections, event.keys) }
        : { request, ...cached(state, event) };
    case "whole": {
      const left = new Map([...rejections].filter(([key]) => event.rejected.has(key)));
      return {
        request: complete(request),
        ...cached({ known, rejections: left }, { at: known.at }),
      };
    }
    case "rejected":
      return { request, ...rejected(state, event) };
    case "failed":
      return { request: closed(request), known: failed(known, event), rejections };
    case "confirmed":
      return { request, ...confirmed(state, event) };
    case "idle":
      return { request: idle(request), known, rejections };
    case "overdue":
      return { request: closed(request), known, rejections };
    case "dropped":
      return { request: { kind: "dropped" }, known: withoutError(known), rejections };
  }
}

type OpenRequest = Extract<CollectionRequest, { readonly kind: "waiting" | "partial" }>;

/** Nothing is concluded of it since it was requested on this stream. */
function isOpen(request: CollectionRequest): request is OpenRequest {
  return request.kind === "waiting" || request.kind === "partial";
}

/** Nothing of it has come on this stream. */
export function hasNotBegun({ kind }: CollectionRequest | NameRequest): boolean {
  return kind === "waiting" || kind === "silent";
}

/** A collection that is requested again, because one of its members was lost, is still what it was: what a response leaves out of it is removed. */
function sent(request: CollectionRequest, first: boolean): CollectionRequest {
  switch (request.kind) {
    case "unsent":
    case "waiting":
      return { kind: "waiting", first, unseen: [] };
    case "partial":
      return { ...request, first, unseen: [] };
    default:
      return request;
  }
}

function arrived(request: CollectionRequest, keys: readonly string[]): CollectionRequest {
  switch (request.kind) {
    case "waiting":
      return { ...request, kind: "partial", members: new Set(keys) };
    case "silent":
      return { kind: "partial", first: request.first, unseen: [], members: new Set(keys) };
    case "partial":
      for (const key of keys) request.members.add(key);
      return request;
    default:
      return request;
  }
}

/** What comes of a collection that had failed as a whole is the beginning of it. */
function beginAgain({ request, known, rejections }: CollectionState): CollectionRequest {
  return request.kind === "complete" && known.error !== undefined && rejections.size === 0
    ? { kind: "partial", first: request.first, unseen: [], members: new Set() }
    : request;
}

function complete(request: CollectionRequest): CollectionRequest {
  return "first" in request ? { kind: "complete", first: request.first } : request;
}

/** What a full state has left out is removed when the server must have read the request (C-FULL-3). */
function idle(request: CollectionRequest): CollectionRequest {
  if (request.kind !== "partial") return request;
  return request.unseen.length > 0 ? { ...request, members: new Set() } : complete(request);
}

function closed(request: CollectionRequest): CollectionRequest {
  if (request.kind === "waiting") return { kind: "silent", first: request.first };
  return request.kind === "partial" ? complete(request) : request;
}

/** Something of it is cached now: what was rejected or wrong before is made good. */
function cached(
  { known, rejections }: Knowledge,
  { keys = [], at }: { readonly keys?: readonly string[]; readonly at: number },
): Knowledge {
  const left = rejections.size === 0 ? rejections : without(rejections, keys);
  return {
    known:
      left.size === 0
        ? { kind: "cached", at, ...over(known) }
        : { kind: "cached", at, error: known.error, reports: known.reports },
    rejections: left,
  };
}

/** The same error for the same version is reported once (C-ACK-18). */
function rejected(
  { known, rejections }: Knowledge,
  event: Extract<WantedEvent, { readonly kind: "rejected" }>,
): Knowledge {
  const all = new Map(rejections);
  let { error } = known;
  let isNew = false;
  for (const [key, rejection] of event.rejections) {
    const before = key === undefined ? undefined : all.get(key);
    if (
      error === undefined ||
      before?.version !== rejection.version ||
      !isSameError(before.error, rejection.error)
    ) {
      ({ error } = rejection);
      isNew = true;
    }
    if (key !== undefined && (before !== undefined || all.size < event.limit))
      all.set(key, rejection);
  }
  return error === undefined
    ? { known, rejections }
    : {
        known: {
          kind: "rejected",
          at: known.at,
          error,
          reports: isNew ? known.reports + 1 : known.reports,
        },
        rejections: all,
      };
}

/** The same error again changes nothing. */
function failed(known: Known, { error }: { readonly error: XdsError }): Known {
  return isSameError(known.error, error)
    ? known
    : { kind: "failed", at: known.at, error, reports: known.reports + 1 };
}

function confirmed(
  { known, rejections }: Knowledge,
  { since }: { readonly since: number },
): Knowledge {
  const left = new Map([...rejections].filter(([, { moment }]) => moment >= since));
  return known.error === undefined || left.size > 0
    ? { known, rejections: left }
    : { known: { kind: "cached", at: known.at, ...over(known) }, rejections: NONE };
}

function late(
  { known, rejections }: Knowledge,
  { at, error, others }: Extract<NameEvent, { readonly kind: "late" }>,
): Knowledge {
  const kind = others ? "cached" : "late";
  if (error !== undefined) {
    const isSame = isSameError(known.error, error);
    return {
      known: isSame
        ? { kind, at: known.at, error: known.error, reports: known.reports }
        : { kind, at: known.at, error, reports: known.reports + 1 },
      rejections,
    };
  }
  return others
    ? { known: { kind, at: known.at, error: known.error, reports: known.reports }, rejections }
    : { known: { kind, at, ...over(known) }, rejections: NONE };
}

function withoutError(known: Known): Known {
  const { kind, at } = known;
  return {
    kind: kind === "rejected" || kind === "failed" ? "requested" : kind,
    at,
    ...over(known),
  };
}

/** The error is over, which is reported once. */
function over({ error, reports }: Known): { readonly error: undefined; readonly reports: number } {
  return { error: undefined, reports: error === undefined ? reports : reports + 1 };
}

function without(
  rejections: ReadonlyMap<string, NotedRejection>,
  keys: readonly string[],
): ReadonlyMap<string, NotedRejection> {
  const left = new Map(rejections);
  for (const key of keys) left.delete(key);
  return left;
}
