import { isSameError, type Entry, type XdsError } from "@xdstp/core";

import { AliasHistory, type HistoryHost, VariantHistory } from "./topic-history.ts";
import { BaseTopic, type TopicHost } from "./base-topic.ts";
import type { CacheState } from "./cache-state.ts";
import type { NameRecord, NameTopic } from "./name-record.ts";
import { NO_ENTRIES, StateEntry } from "./state-entry.ts";
import type { VariantSet } from "./variants/variant-set.ts";

/** What an exact topic asks of the store of its type. */
export interface ExactHost extends TopicHost {
  /** The record of a name by its key. */
  record(key: string): NameRecord | undefined;
  /** The existing resource that has this alias. */
  aliasOf(key: string): NameRecord | undefined;
  /** Gives an existing name a new entry, because a reader comes upon it that may have read past the old one. */
  renew(record: NameRecord): void;
  /** Asks for a `refresh` of the topic when this name is removed or comes back. */
  miss(key: string, topic: ExactTopic): void;
  /** No more of that. */
  leave(key: string, topic: ExactTopic): void;
  keyOf(name: string): string;
  /** The variants of a name; undefined: it has none. */
  variantsOf(key: string): VariantSet | undefined;
}

/** The topic of one name or alias. It has no `#method` either. */
export class ExactTopic extends BaseTopic implements HistoryHost, NameTopic {
  declare protected readonly host: ExactHost;
  #entry: StateEntry | undefined;
  /** Present once an alias has been followed, or while the name has variants. */
  #history: AliasHistory | VariantHistory | undefined;

  get settled(): boolean {
    this.sync();
    return this.#entry !== undefined;
  }

  get head(): number {
    this.sync();
    return Math.max(this.#entry?.revision ?? 0, this.#history?.head ?? 0);
  }

  get hash(): number {
    this.sync();
    return this.#entry?.resource?.hash ?? 0;
  }

  changes(after: number): readonly Entry[] | undefined {
    this.sync();
    const entry = this.#entry;
    if (entry === undefined || this.head <= after) return NO_ENTRIES;
    const history = this.#history;
    if (history === undefined) return entry.alone();
    return after < history.floor ? undefined : history.after(after, entry);
  }

  members(): readonly Entry[] {
    this.sync();
    return this.#entry?.alone() ?? NO_ENTRIES;
  }

  get(name: string): Entry | undefined {
    this.sync();
    const entry = this.#entry;
    if (entry?.resource === undefined) return undefined;
    const key = this.host.keyOf(name);
    return key === this.key || key === this.host.keyOf(entry.name) ? entry : undefined;
  }

  removed(): readonly Entry[] {
    this.sync();
    const entry = this.#entry;
    if (entry === undefined) return NO_ENTRIES;
    return [
      ...(this.#history?.removedAfter(0, entry) ?? []),
      ...(entry.tombstone ? entry.alone() : []),
    ];
  }

  gone(name: string): readonly Entry[] {
    const variants = this.host.variantsOf(this.key);
    return variants === undefined || this.host.keyOf(name) !== this.key
      ? NO_ENTRIES
      : variants
          .removed(this.interest.parameters)
          .map((entry) => entry.spelled(this.interest.name));
  }

  /** Something has happened to the name or an alias, in that a name has changed: looks up the resource of the name again. Watched topics only. */
  refresh(changed: string): void {
    const variants = this.host.variantsOf(this.key);
    if (variants !== undefined) {
      const next = this.variant(variants) ?? this.absent(this.host.record(this.key)?.entry);
      if (next !== undefined) this.enter(next);
      return;
    }
    const record = this.target(changed);
    const next =
      record?.entry?.resource === undefined ? this.absent(record?.entry) : this.entryOf(record.key);
    if (next === undefined) return;
    if (
      next !== this.#entry &&
      record?.entry?.resource !== undefined &&
      next.revision < this.host.state.revision
    )
      this.host.renew(record);
    else this.enter(next);
  }

  /** By alias a resource is answered under its own name, else in the spelling that was asked (S-ALIAS-1, N-42). */
  entryOf(key: string): StateEntry | undefined {
    const entry = this.host.record(key)?.entry;
    if (key !== this.key) return entry;
    // The store forgets a removal after a while, the topic does not.
    return (
      entry?.spelled(this.interest.name) ??
      (this.#entry?.tombstone === true ? this.#entry : undefined)
    );
  }

  get state(): CacheState {
    return this.host.state;
  }

  /** A topic without watchers is not notified; when it gets one, the store reads {@link former}. */
  miss(key: string): void {
    if (this.watched) this.host.miss(key, this);
  }

  leave(key: string): void {
    this.host.leave(key, this);
  }

  /** Keys of names that it showed before. */
  get former(): Iterable<string> {
    return this.#history?.former ?? [];
  }

  /** Says already that nothing is there, for this reason. */
  isMissing(error: XdsError | undefined): boolean {
    return (
      this.#entry !== undefined &&
      this.#entry.resource === undefined &&
      isSameError(this.#entry.error, error)
    );
  }

  settle(error?: XdsError): void {
    if (this.#entry !== undefined) return;
    const { revision, label } = this.host.state;
    this.enter(new StateEntry({ revision, name: this.interest.name, error, label }));
  }

  protected get movedBy(): string | undefined {
    const { head = 0, label } = this.#history ?? {};
    return head > (this.#entry?.revision ?? 0) ? label : this.#entry?.label;
  }

  protected sync(): void {
    if (this.watched) return;
    const { answersAll, revision } = this.host.state;
    const held = this.#entry;
    this.#history = undefined;
    const variants = this.host.variantsOf(this.key);
    const record = variants === undefined ? this.target() : this.host.record(this.key);
    this.#entry =
      (variants && this.variant(variants)) ??
      (record === undefined ? undefined : this.entryOf(record.key));
    if (this.#entry === undefined && answersAll) {
      this.#entry =
        held?.resource === undefined && held !== undefined
          ? held
          : new StateEntry({ revision, name: this.interest.name });
    }
  }

  /** The one of the variants that matches, in the spelling of the subscription. Removed variants are in the history. */
  private variant(variants: VariantSet): StateEntry | undefined {
    const {
      interest: { name, parameters },
      host: { state },
    } = this;
    const history = this.#history instanceof VariantHistory ? this.#history : new VariantHistory();
    this.#history = history;
    history.follow(
      variants.removed(parameters).map((entry) => entry.spelled(name)),
      state,
      this.watched,
    );
    return variants.shown(parameters)?.spelled(name);
  }

  /** The record of the name: its own, unless only an alias leads to a resource. */
  private target(changed?: string): NameRecord | undefined {
    const own = this.host.record(this.key);
    const isOwn = own?.entry?.resource !== undefined;
    const alias = isOwn ? undefined : this.host.aliasOf(this.key);
    if (this.#history instanceof VariantHistory) this.#history = undefined;
    if (alias !== undefined)
      this.#history ??= new AliasHistory(hasExisted(this.#entry) ? this.key : undefined, this);
    this.#history?.follow(isOwn ? this.key : alias?.key, changed);
    return alias ?? own;
  }

  /** What says that nothing is there; of an unsettled topic nothing does. */
  private absent(own: StateEntry | undefined): StateEntry | undefined {
    const { revision, label } = this.host.state;
    const held = this.#entry;
    const said = own?.spelled(this.interest.name);
    if (said !== undefined && (held === undefined || held === said || said.revision === revision))
      return said;
    if (held?.resource === undefined) return held;
    return new StateEntry({ revision, name: this.interest.name, error: own?.error, label });
  }

  private enter(next: StateEntry): void {
    const { state } = this.host;
    state.work++;
    this.#entry = next;
    if (this.head === state.revision) state.touched.add(this);
  }
}

function hasExisted(entry: StateEntry | undefined): boolean {
  return entry !== undefined && (entry.resource !== undefined || entry.tombstone);
}
