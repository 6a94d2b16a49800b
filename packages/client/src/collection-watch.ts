import { type Entry, type StoredResource, type XdsError, isSameError } from "@xdstp/core";

import { BaseWatch, type Watched } from "./read-watch.ts";
import { type Decoder, checkUndecoded } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import { createMember, isOf, type Member } from "./member.ts";
import {
  type TypeSource,
  type ValueOf,
  type Watch,
  watchedType,
  type WatchedType,
  type WatchOptions,
} from "./watch.ts";

/** Options of {@link watchCollection}. */
export type CollectionOptions<T> = WatchOptions<T> & {
  readonly decode?: "on-arrival" | "on-demand";
};

/** The changes of a collection since the previous change. */
export interface CollectionChange<T> {
  /** Members that the collection did not have before. */
  readonly added: readonly Member<T>[];
  /** Members that the collection had in another state. */
  readonly updated: readonly Member<T>[];
  /** Names of removed members. */
  readonly removed: readonly string[];
  /** True if all members are known, as far as the protocol can tell (C-GLOB-9). */
  readonly complete: boolean;
  /** The reason why the collection may be out of date, or why it is not available. */
  readonly error?: XdsError;
  /**
   * When a server sent the newest member, in milliseconds since the epoch. Present while the
   * members are from the option `snapshot` of the client, until a server answers.
   */
  readonly restoredAt?: number;
}

/** A watch on a glob, or on all resources of a type. */
export interface CollectionWatch<T> extends Watch<CollectionChange<T>> {
  /** The members as of the last change that was read, by name. */
  readonly members: ReadonlyMap<string, Member<T>>;
}

/** Watches all members of a glob, or of a type (`*`). */
export function watchCollection<S extends TypeSource<unknown>>(
  hub: Hub,
  source: S,
  name: string,
  options: CollectionOptions<ValueOf<S>>,
): CollectionWatch<ValueOf<S>> {
  return new Collection<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

class Collection<T> extends BaseWatch<CollectionChange<T>> implements CollectionWatch<T> {
  readonly members = new Map<string, Member<T>>();
  readonly #decoder: Decoder<T>;
  /** Cached resources that this watch cannot use, by name. */
  readonly #unfit = new Map<
    string,
    { readonly resource: StoredResource; readonly error: XdsError }
  >();
  #revision = -1;
  #state = requestedCollection;
  /**
   * True if the source has reported its state since the last read, for example an error that is the
   * same as before.
   */
  #isReported = false;

  constructor(
    hub: Hub,
    source: TypeSource<T>,
    name: string,
    { validate, signal, decode = "on-arrival", ...nameOptions }: CollectionOptions<T>,
  ) {
    const type = watchedType(source) as WatchedType<T>;
    const decoder = hub.decoder<T>(source, type);
    const check: Watched["check"] =
      decode === "on-demand"
        ? checkUndecoded(source)
        : (resource, checked) => decoder.check(resource, checked, validate);
    super(hub, { typeUrl: type.typeUrl, name, options: nameOptions, check });
    this.#decoder = decoder;
    if (decode === "on-arrival") this.#judge(check);
    this.begin(signal);
  }

  wake(): void {
    this.#isReported ||= this.isSupply();
    const { settled, stale, head } = this.topic;
    if (!settled && stale === undefined && head <= 0) return;
    this.announce(() => this.#change());
  }

  /** Resources that were cached before this watch began may be invalid for it. */
  #judge(check: Watched["check"]): void {
    for (const { name, resource } of this.topic.members()) {
      const error = resource === undefined ? undefined : check(resource, name);
      if (resource !== undefined && error !== undefined) this.#unfit.set(name, { resource, error });
    }
  }

  /** Returns `undefined` if a reader would not notice a difference. */
  #change(): CollectionChange<T> | undefined {
    const { settled } = this.topic;
    const change = {
      added: [] as Member<T>[],
      updated: [] as Member<T>[],
      removed: [] as string[],
    };
    for (const entry of this.#updates(change.removed)) this.#take(entry, change);
    const before = this.#state;
    const error = this.topic.stale ?? this.#unfit.values().next().value?.error;
    this.#state = nextCollectionState(before, settled, error, this.#isReported);
    this.#isReported = false;
    if (
      this.#state === before &&
      change.added.length + change.updated.length + change.removed.length === 0
    )
      return undefined;
    const restoredAt = this.restoredAt();
    return {
      ...change,
      complete: settled,
      ...(error === undefined ? {} : { error: this.hub.tell(error) }),
      ...(restoredAt !== undefined && { restoredAt }),
    };
  }

  /**
   * Returns the entries that are newer than the last read. If the topic no longer keeps that
   * history, returns its present members, and adds members that are no longer present to `removed`.
   */
  #updates(removed: string[]): readonly Entry[] {
    const { head } = this.topic;
    const changes = this.#revision < 0 ? undefined : this.topic.changes(this.#revision);
    this.#revision = head;
    if (changes !== undefined) return changes;
    const there = this.topic.members();
    const names = new Set(
      there.flatMap(({ name, resource }) => (resource === undefined ? [] : [name])),
    );
    for (const name of this.members.keys()) if (!names.has(name)) removed.push(name);
    for (const name of removed) this.members.delete(name);
    return there;
  }

  #take(
    { name, resource }: Entry,
    {
      added,
      updated,
      removed,
    }: { readonly added: Member<T>[]; readonly updated: Member<T>[]; readonly removed: string[] },
  ): void {
    const known = this.members.get(name);
    const isUnfit = this.#unfit.get(name)?.resource === resource;
    if (!isUnfit) this.#unfit.delete(name);
    if (resource === undefined || isUnfit) {
      if (this.members.delete(name)) removed.push(name);
      return;
    }
    if (isOf(known, resource)) return;
    const member = createMember(this.#decoder, name, resource);
    this.members.set(name, member);
    (known === undefined ? added : updated).push(member);
  }
}

/**
 * The state of a collection as a whole, as a reader knows it. `error`: the reason why it may be out
 * of date, or why it is not available.
 *
 * ```text
 * requested --something of it is known--> partial --the last member arrives--> complete --the server begins again--> partial
 * ```
 */
type CollectionState =
  /** Nothing is known yet. */
  | { readonly kind: "requested" }
  /** Some members may be unknown. */
  | { readonly kind: "partial"; readonly error: XdsError | undefined }
  /** All members are known, as far as the protocol can tell (C-GLOB-9). */
  | { readonly kind: "complete"; readonly error: XdsError | undefined };

/** The state of a watch that has just begun. */
export const requestedCollection: CollectionState = { kind: "requested" };

/**
 * Returns the state of a collection for a reader: the same object if the reader sees no difference.
 * Members that arrive one after the other do not change it.
 * @param isReport - True if the error was reported since the last read, even the same error again
 */
export function nextCollectionState(
  before: CollectionState,
  settled: boolean,
  error: XdsError | undefined,
  isReport: boolean,
): CollectionState {
  if (before.kind === "requested" && !settled && error === undefined) return before;
  const kind = settled ? "complete" : "partial";
  const isSame = before.kind === kind && isSameError(before.error, error);
  return isSame && !(isReport && error !== undefined) ? before : { kind, error };
}
