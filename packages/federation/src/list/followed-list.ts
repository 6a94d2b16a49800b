import type { Interest, Resource, XdsError } from "@xdstp/core";

import type { Holding, ListMember } from "./list-member.ts";

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

/** A list collection and its members as one changing set, as it is now: level-triggered, like a topic. A long list is read in slices. */
export interface FollowedList {
  /** The list itself: one that is `missing` differs from an empty one, which is `held` (S-LIST-11). */
  readonly holding: Holding;
  /** The list is known, and something is known of each of its members. */
  readonly settled: boolean;
  /** In the order of the list, each once (C-LIST-5); the same array until something of it changes, and the same object for each until something of that does. */
  readonly members: readonly ListMember[];
  /** Which places of `members` have changed since they were `before`, so that one reader need not look at all; undefined: any may have. */
  changedSince(before: readonly ListMember[]): readonly number[] | undefined;
  /** Why a state of the list cannot be taken, with the number of the entry that is bad: a check for the cache (C-ACK-5). What has not changed in it is not looked at again. */
  check(resource: Resource): XdsError | undefined;
  /** Ends it: all subscriptions end, and the listener is not called any more. */
  close(): void;
}

/** A listener for changes of a list. Called once a transaction is visible as a whole, never before `followList` returns. */
export interface ListWatcher {
  /** Called when the list or one of its members has changed. */
  wake(): void;
}
