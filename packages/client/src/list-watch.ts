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

/** Options of a watch on a list, documented at `Client.watchList`. */
export type ListOptions<T> = WatchOptions<T> & { readonly maxEntries?: number };

/** The changes of a list since the previous change. */
export interface ListChange<T> {
  /**
   * All members, in the order of the list. A member that has not changed is the same object as
   * before. A change may affect the order only.
   */
  readonly members: readonly ListMember<T>[];
  /** Members that were not in the list before. */
  readonly added: readonly ListMember<T>[];
  /** Members that were in another state. */
  readonly updated: readonly ListMember<T>[];
  /** Members that are no longer in the list, in their last state. */
  readonly removed: readonly ListMember<T>[];
  /** True if the list exists, even if it is empty (S-LIST-11). */
  readonly exists: boolean;
  /** The version of the list itself. Empty if the list does not exist. */
  readonly version: string;
  /** True if the list is known, and something is known of each member. */
  readonly complete: boolean;
  /**
   * The error of the list itself: the reason why it may be out of date, or why it does not exist.
   */
  readonly error?: XdsError;
  /**
   * When a server sent the list and its inline entries, in milliseconds since the epoch. Present
   * while the list is from the option `snapshot` of the client, until a server sends it.
   */
  readonly restoredAt?: number;
}

/** A watch on a list collection. */
export interface ListWatch<T> extends Watch<ListChange<T>> {
  /** The members as of the last change that was read, in the order of the list. */
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
  #told: Omit<ListChange<T>, "added" | "updated" | "removed"> | undefined;

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
      restoredAt: hub.restoredAt,
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

  /** One transaction may wake this watch many times, so the change is computed when it is read. */
  wake(): void {
    this.announce(() => this.#change());
  }

  protected end(): void {
    this.#list.close();
    this.#uncheck();
  }

  /** Returns `undefined` if a reader would not notice a difference. */
  #change(): ListChange<T> | undefined {
    const {
      holding: { state, version, error, restoredAt },
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
      ...(restoredAt !== undefined && { restoredAt }),
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
  one: Pick<ListChange<unknown>, "exists" | "version" | "complete" | "error" | "restoredAt">,
  other: typeof one,
): boolean {
  return (
    one.exists === other.exists &&
    one.version === other.version &&
    one.complete === other.complete &&
    one.restoredAt === other.restoredAt &&
    isSameError(one.error, other.error)
  );
}
