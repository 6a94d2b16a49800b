import { cached, confirmed, failed, rejected, without, withoutError } from "./knowledge.ts";
import {
  type CollectionEvent,
  type CollectionRequest,
  type CollectionState,
  hasNotBegun,
  newName,
} from "./wanted.ts";

/** The state of a collection that was just subscribed. */
export const newCollection: CollectionState = {
  request: { kind: "unsent" },
  known: newName.known,
  rejections: newName.rejections,
};

/** Returns the state of a collection after an event. */
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
      // A removal before any member has come says nothing about the collection.
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

/**
 * Returns true if nothing was concluded about a collection since it was requested on this stream.
 */
function isOpen(request: CollectionRequest): request is OpenRequest {
  return request.kind === "waiting" || request.kind === "partial";
}

/**
 * A complete or silent collection that is requested again, because a member was lost, keeps its
 * state: members that a response leaves out are removed.
 */
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

/** A member that comes after a collection had failed as a whole begins the collection again. */
function beginAgain({ request, known, rejections }: CollectionState): CollectionRequest {
  return request.kind === "complete" && known.error !== undefined && rejections.size === 0
    ? { kind: "partial", first: request.first, unseen: [], members: new Set() }
    : request;
}

function complete(request: CollectionRequest): CollectionRequest {
  return "first" in request ? { kind: "complete", first: request.first } : request;
}

/**
 * Handles the end of an idle time. Members that a full state has left out are removed only when the
 * server must have read the request (C-FULL-3), so the collection stays partial until then.
 */
function idle(request: CollectionRequest): CollectionRequest {
  if (request.kind !== "partial") return request;
  return request.unseen.length > 0 ? { ...request, members: new Set() } : complete(request);
}

function closed(request: CollectionRequest): CollectionRequest {
  if (request.kind === "waiting") return { kind: "silent", first: request.first };
  return request.kind === "partial" ? complete(request) : request;
}
