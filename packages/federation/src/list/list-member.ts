import { type Interest, isSameError, type Resource, type Topic, type XdsError } from "@xdstp/core";
import { equalBytes } from "@xdstp/core/wire";

import { notFound } from "../routes/ask.ts";
import type { InlineEntry } from "./read-list.ts";

/**
 * The present state of a list collection and its members. It is level-triggered, like a topic. A
 * long list is read in slices.
 */
export interface FollowedList {
  /** The list itself. A `missing` list differs from an empty one, which is `held` (S-LIST-11). */
  readonly holding: {
    /**
     * The state of a list or of one member. `pending`: nothing is known yet. `held`: there is a
     * resource. `missing`: it does not exist. `failed`: it is unavailable, and `error` says why.
     */
    readonly state: "pending" | "held" | "missing" | "failed";
    /** Present only in the state `held`. */
    readonly resource?: Resource;
    /**
     * The version that the server gave, or a hash of the content if it gave none (S-VER-4). Empty
     * if there is no resource.
     */
    readonly version: string;
    /**
     * Next to a resource: an ambient error; the cached resource stays valid. Without a resource:
     * the reason why there is none.
     */
    readonly error?: XdsError;
    /** See the option `restoredAt`. Absent for an inline member, which is as old as its list. */
    readonly restoredAt?: number;
  };
  /** True if the list is known, and something is known of each member. */
  readonly settled: boolean;
  /**
   * The members in the order of the list, each once (C-LIST-5). The array is the same object until
   * one of them changes, and so is each member.
   */
  readonly members: readonly (FollowedList["holding"] & {
    /**
     * The same name for an inline and for a located member (C-LIST-8). Empty for an inline member
     * without a name.
     */
    readonly name: string;
  })[];
  /**
   * Returns the indices of `members` that have changed since they were `before`, so that one reader
   * need not compare all of them. `undefined`: any may have changed.
   */
  changedSince(before: FollowedList["members"]): readonly number[] | undefined;
  /**
   * Returns the reason why a state of the list is rejected, with the number of the invalid entry: a
   * check for the cache (C-ACK-5). Entries that have not changed are not checked again.
   */
  check(resource: Resource): XdsError | undefined;
  /** Ends all subscriptions. The watcher is not woken any more. */
  close(): void;
}

/** The state of a name, as far as it is known. */
export type Holding = FollowedList["holding"];

/** One member of a list. It is a new object whenever a reader would notice a difference. */
export type ListMember = FollowedList["members"][number];

/** Returns the present state of the topic of an exact name. */
export function holdingOf(
  topic: Topic,
  typeUrl: string,
  restoredAt: FollowListOptions["restoredAt"],
): Holding {
  const { interest, settled, stale } = topic;
  const [entry] = topic.members();
  const error = stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined) {
    const at = stale && restoredAt?.(typeUrl, interest);
    return {
      state: "held",
      resource,
      version: resource.given,
      ...(error !== undefined && { error }),
      ...(at !== undefined && { restoredAt: at }),
    };
  }
  if (error !== undefined) return failure(error);
  return settled ? failure(notFound(typeUrl, interest.name)) : { state: "pending", version: "" };
}

/** Returns the state of a name without a resource, with the reason. */
export function failure(error: XdsError): Holding {
  return { state: error.code === "NOT_FOUND" ? "missing" : "failed", version: "", error };
}

/**
 * Returns the member for a state: the same object as before, unless a reader would notice a
 * difference.
 */
export function shown(before: ListMember | undefined, name: string, now: Holding): ListMember {
  return before !== undefined && isSameHolding(before, now) ? before : { name, ...now };
}

/**
 * An entry with an unchanged version is not delivered again (C-LIST-6), unless its content has
 * changed (B-VER-5).
 */
function isSameHolding(one: Holding, other: Holding): boolean {
  return (
    one.state === other.state &&
    one.version === other.version &&
    one.restoredAt === other.restoredAt &&
    isSameError(one.error, other.error) &&
    isSameContent(one.resource, other.resource)
  );
}

function isSameContent(one: Resource | undefined, other: Resource | undefined): boolean {
  return (
    one === other ||
    (one !== undefined && other !== undefined && equalBytes(one.payload.value, other.payload.value))
  );
}

/** A member at its place in a list, and its source. */
export interface ListPart {
  /** The same object while a reader would notice no difference. */
  readonly member: ListMember;
  /** True if something is known of it. */
  readonly settled: boolean;
  /** The printed locator that is subscribed. Absent for an inline member. */
  readonly locator?: string;
  end(): void;
}

/** Returns a member that cannot be requested, with the reason. */
export function failedPart(
  name: string,
  error: XdsError,
  before: ListMember | undefined,
): ListPart {
  return { member: shown(before, name, failure(error)), settled: true, end: () => undefined };
}

/**
 * Returns a member that is inline in the list. An unchanged member stays the same object. A new
 * member is copied, so that it does not keep the bytes of the whole list in memory.
 */
export function inlinePart(
  { version, payload }: InlineEntry,
  name: string,
  before: ListMember | undefined,
): ListPart {
  const holding: Holding = { state: "held", version, resource: { name, version, payload } };
  const member = shown(before, name, holding);
  const end = (): void => undefined;
  if (member === before) return { member, settled: true, end };
  const copy = { typeUrl: payload.typeUrl, value: payload.value.slice() };
  return { member: { ...member, resource: { name, version, payload: copy } }, settled: true, end };
}

/** Options of `followList`. */
export interface FollowListOptions {
  /** The maximum number of entries (C-LIM-7). Default: 100,000. */
  readonly maxEntries?: number;
  /**
   * The number of entries of a list that are read in one turn. Until all are read, the previous
   * state stays in force. Default: 4,000.
   */
  readonly slice?: number;
  /**
   * Returns the interest for a locator of the list. Throws an XdsError if the locator cannot be
   * subscribed. Default: the locator as a name.
   */
  readonly interestOf?: (locator: string) => Interest;
  /**
   * Called when a member is first subscribed. Returns a function that ends the need. Default:
   * nothing.
   */
  readonly onWanted?: (interest: Interest) => () => void;
  /**
   * Returns the reason why a member cannot be used. Called for located members that were cached
   * before they were subscribed here, and by `check` for inline entries: then the whole list is
   * rejected. Default: every member can be used.
   */
  readonly faultOf?: (resource: Resource, name: string) => XdsError | undefined;
  /**
   * Returns when a server sent what the source has for a list or a member, in milliseconds since
   * the epoch; undefined if it is not from a snapshot. Called while a topic is stale. Default:
   * nothing is from a snapshot.
   */
  readonly restoredAt?: (typeUrl: string, interest: Interest) => number | undefined;
}
