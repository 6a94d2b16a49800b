import { type Interest, isSameError, type Resource, type Topic, type XdsError } from "@xdstp/core";

import { notFound } from "../routes/ask.ts";
import type { InlineEntry } from "./read-list.ts";

/** A list collection and its members as one changing set, as it is now: level-triggered, like a topic. A long list is read in slices. */
export interface FollowedList {
  /** The list itself: one that is `missing` differs from an empty one, which is `held` (S-LIST-11). */
  readonly holding: {
    /** What is known of a list or of one member: nothing yet; a resource; that there is none; why none can be had. */
    readonly state: "pending" | "held" | "missing" | "failed";
    /** Only while `held`. */
    readonly resource?: Resource;
    /** As it was given, or derived from the content where none was (S-VER-4). Empty: there is none. */
    readonly version: string;
    /** Next to a resource: ambient, the cached resource stays valid. Otherwise why there is none. */
    readonly error?: XdsError;
  };
  /** The list is known, and something is known of each of its members. */
  readonly settled: boolean;
  /** In the order of the list, each once (C-LIST-5); the same array until something of it changes, and the same object for each until something of that does. */
  readonly members: readonly (FollowedList["holding"] & {
    /** Whether it is inline or not (C-LIST-8). Empty: inline and without a name. */
    readonly name: string;
  })[];
  /** Which places of `members` have changed since they were `before`, so that one reader need not look at all; undefined: any may have. */
  changedSince(before: FollowedList["members"]): readonly number[] | undefined;
  /** Why a state of the list cannot be taken, with the number of the entry that is bad: a check for the cache (C-ACK-5). What has not changed in it is not looked at again. */
  check(resource: Resource): XdsError | undefined;
  /** Ends it: all subscriptions end, and the listener is not called any more. */
  close(): void;
}

/** What a name has, as far as it is known. */
export type Holding = FollowedList["holding"];

/** One member of a list; a new object whenever something of it has changed that a reader would notice. */
export type ListMember = FollowedList["members"][number];

/** What the topic of an exact name has now. */
export function holdingOf(topic: Topic, typeUrl: string): Holding {
  const {
    interest: { name },
    settled,
  } = topic;
  const [entry] = topic.members();
  const error = topic.stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined)
    return {
      state: "held",
      resource,
      version: resource.given,
      ...(error !== undefined && { error }),
    };
  if (error !== undefined) return failure(error);
  return settled ? failure(notFound(typeUrl, name)) : { state: "pending", version: "" };
}

/** Nothing is cached, and this is why. */
export function failure(error: XdsError): Holding {
  return { state: error.code === "NOT_FOUND" ? "missing" : "failed", version: "", error };
}

/** What is shown under a name: the same object as before, unless a reader would notice a difference. */
export function shown(before: ListMember | undefined, name: string, now: Holding): ListMember {
  return before !== undefined && isSameHolding(before, now) ? before : { name, ...now };
}

/** An entry whose version did not change is not delivered again (C-LIST-6), unless its content did all the same (B-VER-5). */
function isSameHolding(one: Holding, other: Holding): boolean {
  return (
    one.state === other.state &&
    one.version === other.version &&
    isSameError(one.error, other.error) &&
    isSameContent(one.resource, other.resource)
  );
}

function isSameContent(one: Resource | undefined, other: Resource | undefined): boolean {
  return (
    one === other ||
    (one !== undefined &&
      other !== undefined &&
      Buffer.compare(one.payload.value, other.payload.value) === 0)
  );
}

/** A member in its place in a list, and where it comes from. */
export interface ListPart {
  /** The same object while a reader would notice no difference. */
  readonly member: ListMember;
  /** Something is known of it. */
  readonly settled: boolean;
  /** The subscribed locator, printed. Absent: none. */
  readonly locator?: string;
  end(): void;
}

/** A member for which no server is known. */
export function failedPart(
  name: string,
  error: XdsError,
  before: ListMember | undefined,
): ListPart {
  return { member: shown(before, name, failure(error)), settled: true, end: () => undefined };
}

/** A member that is inline in the list. An unchanged member stays the same object. A new member is copied, so that it does not keep the bytes of the whole list in memory. */
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

/** How a list is followed. */
export interface FollowListOptions {
  /** How many entries it may have (C-LIM-7). Default: 100,000. */
  readonly maxEntries?: number;
  /** How many entries of a list are read in one turn; until all are read, the previous state stays. Default: 4,000. */
  readonly slice?: number;
  /** The printed name that a locator of the list subscribes to. Throws an XdsError that says why it cannot. Default: the locator as a name. */
  readonly interestOf?: (locator: string) => Interest;
  /** Called when a member begins to be asked for; gives what ends it. Default: nothing. */
  readonly onWanted?: (interest: Interest) => () => void;
  /** Why a member cannot be used. Called for what was there before it was subscribed here, and by `check`; an inline entry makes the list unusable. Default: it can. */
  readonly faultOf?: (resource: Resource, name: string) => XdsError | undefined;
}
