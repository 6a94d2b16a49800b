import {
  nextTurn,
  XdsError,
  type AnyBytes,
  type Fault,
  type Interest,
  type Resource,
  type ResourceSource,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { equalBytes } from "@xdstp/core/wire";
import { collectionTypeOf } from "@xdstp/uri";

import {
  failure,
  type FollowedList,
  type FollowListOptions,
  type Holding,
  holdingOf,
  type ListMember,
  type ListPart,
  shown,
} from "./list-member.ts";
import { ListParts } from "./list-parts.ts";
import { MemberIndex, memberName, namingList, type NamingList } from "./member-index.ts";
import { readList, type InlineEntry, type LocatedEntry } from "./read-list.ts";

/**
 * Follows a list collection of a source, which is subscribed under its own type (B-TYPE-6), and
 * each of its members. Inline members are in the list. Located members are subscribed by their
 * locators while the list has them (C-LIST-5).
 * The source is a cache with the option `directives` if locators may have directives. Never throws.
 * Used by clients and relays.
 * @param watcher - Woken when the list or one of its members has changed, after the whole
 * transaction is visible, and never before `followList` returns
 */
export function followList(
  source: ResourceSource,
  memberTypeUrl: string,
  interest: Interest,
  watcher: { wake(): void },
  options: FollowListOptions = {},
): FollowedList {
  return new Following(source, memberTypeUrl, interest, watcher, options);
}

class Following implements FollowedList, Watcher {
  readonly #typeUrl: string;
  readonly #list: NamingList;
  readonly #topic: Topic;
  readonly #watcher: Parameters<typeof followList>[3];
  readonly #options: FollowListOptions;
  readonly #parts: ListParts;
  /** The list that the parts belong to. */
  #read: Resource | undefined;
  /** A state of the list that cannot be used. */
  #unfit: { readonly resource: Resource; readonly error: XdsError } | undefined;
  readonly #memberIndex = new MemberIndex();
  #holding: Holding = { state: "pending", version: "" };
  /** A state that was checked and is not cached yet. */
  #checked: { readonly payload: AnyBytes; readonly entries: readonly LocatedEntry[] } | undefined;
  /** The list that the parts belong to, or will belong to. */
  #own: Holding = this.#holding;
  /** The parts in the order of the list. */
  #order: readonly ListPart[] = [];
  #woken: "no" | "members" | "list" = "list";
  #isDue = false;
  #goesOn = false;
  #closed = false;

  constructor(
    source: ResourceSource,
    memberTypeUrl: string,
    interest: Interest,
    watcher: Parameters<typeof followList>[3],
    options: FollowListOptions,
  ) {
    this.#typeUrl = memberTypeUrl;
    this.#list = namingList(interest.name, memberTypeUrl);
    this.#watcher = watcher;
    this.#options = options;
    this.#parts = new ListParts({
      ...options,
      source,
      memberTypeUrl,
      list: this.#list,
      onWake: (part) => {
        this.#onPart(part);
      },
    });
    this.#topic = source.topic(collectionTypeOf(memberTypeUrl), interest);
    this.#topic.watch(this);
    this.#look(options.faultOf);
  }

  get holding(): Holding {
    this.#look();
    return this.#holding;
  }

  get settled(): boolean {
    this.#look();
    return this.#topic.settled && !this.#parts.isTaking && this.#memberIndex.settled;
  }

  get members(): readonly ListMember[] {
    this.#look();
    return this.#memberIndex.members;
  }

  changedSince(before: readonly ListMember[]): readonly number[] | undefined {
    this.#look();
    return this.#memberIndex.changedSince(before);
  }

  check(resource: Resource): XdsError | undefined {
    const entries = this.#entriesOf(resource, this.#options.faultOf);
    if (entries instanceof XdsError) return entries;
    this.#checked = entries.every((entry) => entry.kind === "locator")
      ? { payload: resource.payload, entries }
      : undefined;
    return undefined;
  }

  wake(): void {
    this.#touch("list");
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#topic.unwatch(this);
    this.#parts.end();
    this.#goOn();
  }

  #onPart(part: ListPart): void {
    this.#memberIndex.wake(part);
    this.#touch("members");
  }

  /** Reads the list even if there is no reader, since new members have to be subscribed. */
  #touch(woken: "members" | "list"): void {
    if (this.#closed) return;
    if (this.#woken !== "list") this.#woken = woken;
    if (!this.#isDue) {
      this.#isDue = true;
      queueMicrotask(() => {
        this.#isDue = false;
        this.#look();
      });
    }
    this.#watcher.wake();
  }

  /** `faultOf`: given if the cached list was not checked yet. */
  #look(faultOf?: FollowListOptions["faultOf"]): void {
    if (this.#woken === "no" || this.#closed) return;
    if (this.#woken === "list") this.#holding = this.#lookAtList(faultOf);
    this.#woken = "no";
    if (this.#order === this.#parts.order) this.#memberIndex.look();
    else this.#memberIndex.replace((this.#order = this.#parts.order));
  }

  /** Handles the next slice, in a turn of its own. */
  #goOn(): void {
    if (this.#goesOn || !this.#parts.isDue) return;
    this.#goesOn = true;
    nextTurn(() => {
      this.#goesOn = false;
      const { isTaking } = this.#parts;
      this.#parts.go();
      if (isTaking && !this.#parts.isTaking) this.#touch("list");
      this.#goOn();
    });
  }

  #lookAtList(faultOf: FollowListOptions["faultOf"]): Holding {
    const now = holdingOf(this.#topic, collectionTypeOf(this.#typeUrl), this.#options.restoredAt);
    this.#take(now.resource, faultOf);
    if (this.#unfit === undefined) this.#own = now;
    if (this.#parts.isTaking) return this.#holding;
    if (this.#unfit === undefined) return now;
    // The result is the same as for a rejected state: the previous one stays (C-ACK-5).
    return this.#read === undefined
      ? failure(this.#unfit.error)
      : { ...this.#own, error: this.#unfit.error };
  }

  #take(resource: Resource | undefined, faultOf: FollowListOptions["faultOf"]): void {
    if (resource !== undefined && resource === this.#unfit?.resource) return;
    this.#unfit = undefined;
    if (resource === this.#read) return;
    const entries = resource === undefined ? [] : this.#entriesOf(resource, faultOf);
    if (resource !== undefined && entries instanceof XdsError)
      this.#unfit = { resource, error: entries };
    if (entries instanceof XdsError) return;
    this.#read = resource;
    this.#parts.replace(entries);
    this.#goOn();
  }

  #entriesOf(
    { payload }: Resource,
    faultOf: FollowListOptions["faultOf"],
  ): readonly (InlineEntry | LocatedEntry)[] | XdsError {
    const { maxEntries } = this.#options;
    const checked = this.#checked;
    this.#checked = undefined;
    if (checked !== undefined && isSamePayload(checked.payload, payload)) return checked.entries;
    const read = readList(payload, this.#typeUrl, {
      ...(maxEntries !== undefined && { maxEntries }),
      ...(faultOf !== undefined && {
        faultOf: (entry: InlineEntry) => this.#faultIn(entry, faultOf),
      }),
    });
    return "text" in read
      ? new XdsError("INVALID_ARGUMENT", read.text, {
          typeUrl: collectionTypeOf(this.#typeUrl),
          resource: this.#topic.interest.name,
          rule: read.rule,
        })
      : read;
  }

  #faultIn(
    entry: InlineEntry,
    faultOf: NonNullable<FollowListOptions["faultOf"]>,
  ): Fault | undefined {
    const name = memberName(entry, this.#list);
    const { version, payload } = entry;
    const resource: Resource = { name, version, payload };
    const before = this.#parts.get(name)?.member;
    if (
      before !== undefined &&
      shown(before, name, { state: "held", version, resource }) === before
    )
      return undefined;
    const error = faultOf(resource, name);
    return error === undefined
      ? undefined
      : {
          text: `is rejected${name === "" ? "" : ` (${name})`}: ${error.text}`,
          rule: error.context.rule,
        };
  }
}

function isSamePayload(one: AnyBytes, other: AnyBytes): boolean {
  return one.typeUrl === other.typeUrl && equalBytes(one.value, other.value);
}
