import { isSameError, type Interest, type Removal, type XdsError } from "@xdstp/core";
import {
  cached,
  confirmed,
  failed,
  type Knowledge,
  noRejections,
  over,
  rejected,
  type Rejections,
  withoutError,
} from "./knowledge.ts";

/**
 * An interest that the client requests from its server. Its `state` is a value that only
 * `changeName` and `changeCollection` replace: `request` starts again with each stream, `known` and
 * `rejections` are kept.
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
  /**
   * The key of the real name, if the interest was requested by an alias (C-ALIAS-3). Written by the
   * index only.
   */
  readonly realName: string | undefined;
  /** Its state. Written by `changeName` only. */
  readonly state: NameState;
}

/** A glob or `*` that is requested. */
export interface WantedCollection extends WantedInterest {
  /** The kind of the collection. */
  readonly kind: "glob" | "wildcard";
  /** Its state. Written by `changeCollection` only. */
  readonly state: CollectionState;
  /**
   * Returns the state after an event: `nextCollection`. It is not imported here, so that a client of
   * single names does not contain it.
   */
  readonly next: (state: CollectionState, event: CollectionEvent) => CollectionState;
}

/** The common part of names and collections. */
interface WantedInterest {
  /** The interest. */
  readonly interest: Interest;
  /** The canonical key: equal for names that are equal (N-40). */
  readonly key: string;
  /** The key and the parameters (TP2): equal for interests that are equal. */
  readonly id: string;
}

/** The state of a name. */
export interface NameState extends Knowledge {
  /** The progress of its request. */
  readonly request: NameRequest;
}

/** The state of a collection. */
export interface CollectionState extends Knowledge {
  /** The progress of its request. */
  readonly request: CollectionRequest;
}

/** The progress of the request of a name on this stream. */
export type NameRequest =
  /** Not in a request of this stream yet. */
  | { readonly kind: "unsent" }
  /**
   * In a request of this stream, and not answered. `first`: in the first request of the type, so
   * that every response takes it into account.
   * `leftOut`: a full state came without it, which the server may have sent before it had read the
   * request (C-FULL-3).
   */
  | { readonly kind: "waiting"; readonly first: boolean; readonly leftOut: boolean }
  | { readonly kind: "answered" }
  /** No longer subscribed. */
  | { readonly kind: "dropped" };

/** The progress of the request of a collection on this stream. */
export type CollectionRequest =
  | { readonly kind: "unsent" }
  /**
   * In a request of this stream, and nothing of it has come. `unseen`: members that are cached or
   * were rejected, and that the last full state did not have (C-FULL-3).
   */
  | { readonly kind: "waiting"; readonly first: boolean; readonly unseen: readonly Removal[] }
  /**
   * Some members have come, perhaps not all (C-GLOB-9). `members`: the keys of those that have
   * come; only a further key shows that the first answer continues. The set is changed in place,
   * since a copy for each response would take quadratic time.
   */
  | {
      readonly kind: "partial";
      readonly first: boolean;
      readonly unseen: readonly Removal[];
      readonly members: Set<string>;
    }
  | { readonly kind: "complete"; readonly first: boolean }
  /**
   * Nothing came in time. The server has read the request by now, so the first member that comes
   * makes it partial.
   */
  | { readonly kind: "silent"; readonly first: boolean }
  | { readonly kind: "dropped" };

/** Events of both names and collections. */
export type WantedEvent =
  /** A stream has begun: nothing of an earlier one counts (C-DSUB-8, C-RECON-2). */
  | { readonly kind: "stream-began" }
  /** The interest is in a request that was sent. */
  | { readonly kind: "sent"; readonly first: boolean }
  /** Resources with these keys were accepted. */
  | { readonly kind: "came"; readonly keys: readonly string[]; readonly at: number }
  /** Resources with these keys do not exist any more. */
  | { readonly kind: "removed"; readonly keys: readonly string[]; readonly at: number }
  /** New states were rejected; what is cached stays (C-ACK-5). */
  | ({ readonly kind: "rejected" } & Rejections)
  /**
   * The server has sent an error, or the interest is unavailable for now; what is cached stays
   * (C-ERR-4).
   */
  | { readonly kind: "failed"; readonly error: XdsError }
  /**
   * The server knows the cached state and has sent nothing else in time. Errors from before `since`
   * (by `Clock.now()`), that is of an earlier stream, are over.
   */
  | { readonly kind: "confirmed"; readonly since: number }
  | { readonly kind: "dropped" };

/** Events of names. */
export type NameEvent =
  | WantedEvent
  /** A response had something for the name. */
  | { readonly kind: "answered" }
  /** A full state came without the name (C-FULL-3). */
  | { readonly kind: "left-out" }
  /**
   * Nothing came in time (C-MISS-4). `others`: it is cached from another server that replaces this
   * one, and this server may still remove it.
   */
  | {
      readonly kind: "late";
      readonly at: number;
      readonly error: XdsError | undefined;
      readonly others: boolean;
    };

/** Events of collections. */
export type CollectionEvent =
  | WantedEvent
  /** A response had something for the collection: members with these keys, if it named any. */
  | { readonly kind: "arrived"; readonly keys: readonly string[] }
  /**
   * A full state came without these members; the server may have sent it before it had read the
   * request (C-FULL-3).
   */
  | { readonly kind: "left-out"; readonly unseen: readonly Removal[] }
  /**
   * The collection is completely known. `rejected`: the keys of its response that were rejected.
   */
  | { readonly kind: "whole"; readonly rejected: ReadonlySet<string> }
  /** No further member has come for some time: the collection is complete (C-GLOB-9). */
  | { readonly kind: "idle" }
  /** The time limit has passed: the collection consists of the members that have come. */
  | { readonly kind: "overdue" };

/** The state of a name that was just subscribed. */
export const newName: NameState = {
  request: { kind: "unsent" },
  known: { kind: "requested", at: 0, error: undefined, reports: 0 },
  rejections: noRejections,
};

/** Applies an event to a name. Only this function and `changeCollection` write a state. */
export function changeName(wanted: WantedName, event: NameEvent): void {
  const writable: { state: NameState } = wanted;
  writable.state = nextName(wanted.state, wanted.key, event);
}

/** Applies an event to a collection. */
export function changeCollection(wanted: WantedCollection, event: CollectionEvent): void {
  const writable: { state: CollectionState } = wanted;
  writable.state = wanted.next(wanted.state, event);
}

/**
 * Returns true if an interest is in a request of this stream, and nothing was concluded about it
 * yet.
 */
export function isPending({ state: { request } }: Wanted): boolean {
  return request.kind === "waiting" || request.kind === "partial";
}

const ANSWERED: NameRequest = { kind: "answered" };

/** Returns the state of a name after an event. `key`: the key of the name. */
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
      // The removal of the name itself also ends rejections under the real name that it was an
      // alias of.
      const isOwn = event.keys.includes(key);
      const after = cached(isOwn ? { known, rejections: noRejections } : state, event);
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

/** Returns true if nothing has come on this stream. */
export function hasNotBegun({ kind }: CollectionRequest | NameRequest): boolean {
  return kind === "waiting" || kind === "silent";
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
    : { known: { kind, at, ...over(known) }, rejections: noRejections };
}
