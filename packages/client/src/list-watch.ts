import { isSameError, type XdsError } from "@xdstp/core";
import { followList, type FollowedList } from "@xdstp/federation";
import { collectionTypeOf } from "@xdstp/uri";

import { compareMembers, listMember, type ListMember, type ShownMembers } from "./list-member.ts";
import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import { ReadWatch } from "./read-watch.ts";
import {
  type TypeSource,
  type ValueOf,
  type Watch,
  watchedType,
  type WatchedType,
  type WatchOptions,
} from "./watch.ts";

/** Options of a watch on a list; the client documents them. */
export type ListOptions<T> = WatchOptions<T> & { readonly maxEntries?: number };

/** What has changed in a list since the change before. */
export interface ListChange<T> {
  /** All of them, in the order of the list; the same object for one that has not changed. A change may be in the order alone. */
  readonly members: readonly ListMember<T>[];
  /** Members that were not in the list. */
  readonly added: readonly ListMember<T>[];
  /** Members that were in another state. */
  readonly updated: readonly ListMember<T>[];
  /** Members that are not in the list any more, as they were. */
  readonly removed: readonly ListMember<T>[];
  /** There is a list, if only an empty one (S-LIST-11). */
  readonly exists: boolean;
  /** Of the list itself. Empty where there is none. */
  readonly version: string;
  /** The list is known, and something is known of each of its members. */
  readonly complete: boolean;
  /** Of the list itself: why it may be old, or why there is none. */
  readonly error?: XdsError;
}

/** A watch on a list collection. */
export interface ListWatch<T> extends Watch<ListChange<T>> {
  /** The members as of the change that was read last, in the order of the list. */
  readonly members: readonly ListMember<T>[];
}

/** Watches a list collection and its members. */
export function watchList<S extends TypeSource<unknown>>(
  hub: Hub,
  source: S,
  name: string,
  options: ListOptions<ValueOf<S>>,
): ListWatch<ValueOf<S>> {
  return new MembersWatch<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

class MembersWatch<T> extends ReadWatch<ListChange<T>> implements ListWatch<T> {
  readonly name: string;
  readonly #decoder: Decoder<T>;
  readonly #list: FollowedList;
  readonly #uncheck: () => void;
  #shown: ShownMembers<T> = { followed: [], members: [] };
  #told: Pick<ListChange<T>, "members" | "exists" | "version" | "complete" | "error"> | undefined;

  constructor(
    hub: Hub,
    source: TypeSource<T>,
    name: string,
    { validate, signal, maxEntries, ...nameOptions }: ListOptions<T>,
  ) {
    super(hub);
    const type = watchedType(source) as WatchedType<T>;
    const { typeUrl } = type;
    const listUrl = collectionTypeOf(typeUrl);
    const interest = hub.interestOf(listUrl, name, nameOptions);
    const decoder = hub.decoder<T>(source, type);
    this.name = interest.name;
    this.#decoder = decoder;
    this.#list = followList(hub.cache, typeUrl, interest, this, {
      ...(maxEntries !== undefined && { maxEntries }),
      interestOf: (locator) => hub.interestOf(typeUrl, locator, {}),
      faultOf: (resource, checked) => decoder.check(resource, checked, validate),
      onWanted: (wanted) =>
        hub.cache.check(typeUrl, wanted, (resource, checked) =>
          decoder.check(resource, checked, validate),
        ),
    });
    this.#uncheck = hub.cache.check(listUrl, interest, (resource) => this.#list.check(resource));
    this.begin(signal);
  }

  get members(): readonly ListMember<T>[] {
    return this.#told?.members ?? [];
  }

  /** There may be many wakes of one transaction, so nothing is looked at yet. */
  wake(): void {
    this.announce(() => this.#change());
  }

  protected end(): void {
    this.#list.close();
    this.#uncheck();
  }

  /** undefined: nothing a reader would notice. */
  #change(): ListChange<T> | undefined {
    const {
      holding: { state, version, error },
      settled,
      members: followed,
    } = this.#list;
    const before = this.#told;
    if (before === undefined && state === "pending") return undefined;
    const changes = compareMembers(
      this.#shown,
      followed,
      (one) => listMember(this.hub, this.#decoder, one),
      this.#list.changedSince(this.#shown.followed),
    );
    const { members } = (this.#shown = { followed, members: changes?.members ?? this.members });
    const now = {
      members,
      exists: state === "held",
      version,
      complete: settled,
      ...(error !== undefined && { error }),
    };
    if (changes === undefined && before !== undefined && isSame(before, now)) return undefined;
    this.#told = now;
    const { added = [], updated = [], removed = [] } = changes ?? {};
    return {
      ...now,
      added,
      updated,
      removed,
      ...(error !== undefined && { error: this.hub.tell(error) }),
    };
  }
}

function isSame(
  one: Pick<ListChange<unknown>, "exists" | "version" | "complete" | "error">,
  other: typeof one,
): boolean {
  return (
    one.exists === other.exists &&
    one.version === other.version &&
    one.complete === other.complete &&
    isSameError(one.error, other.error)
  );
}
