import { isSameError, type Entry, type XdsError } from "@xdstp/core";

import { AliasHistory, type HistoryHost, VariantHistory } from "./topic-history.ts";
import { BaseTopic, type TopicHost } from "./base-topic.ts";
import type { CacheState } from "./cache-state.ts";
import type { NameRecord, NameTopic } from "./name-record.ts";
import { NO_ENTRIES, StateEntry } from "./state-entry.ts";
import type { VariantSet } from "./variants/variant-set.ts";

/** The store of a type, as its exact topics use it. */
export interface ExactHost extends TopicHost {
  /** Returns the record of a name by its key. */
  record(key: string): NameRecord | undefined;
  /** Returns the existing resource that has this alias. */
  aliasOf(key: string): NameRecord | undefined;
  /** Gives an existing name a new entry, for a reader that may have read past the old one. */
  renew(record: NameRecord): void;
  /** Requests a `refresh` of the topic when this name is removed or exists again. */
  miss(key: string, topic: ExactTopic): void;
  /** Ends that request. */
  leave(key: string, topic: ExactTopic): void;
  keyOf(name: string): string;
  /** Returns the variants of a name. undefined: it has none. */
  variantsOf(key: string): VariantSet | undefined;
}

/** The topic of one name or alias. It has no `#method`, as its base. */
export class ExactTopic extends BaseTopic implements HistoryHost, NameTopic {
  declare protected readonly host: ExactHost;
  #entry: StateEntry | undefined;
  /** Present after an alias has been followed, or while the name has variants. */
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

  /**
   * Looks up the resource of the name again, since the name or an alias has changed. `changed`: the
   * name that has changed. For watched topics only.
   */
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

  /**
   * Returns the entry of a resource as the topic shows it: a resource found by alias has its own
   * name, any other has the requested spelling (S-ALIAS-1, N-42).
   */
  entryOf(key: string): StateEntry | undefined {
    const entry = this.host.record(key)?.entry;
    if (key !== this.key) return entry;
    // The store drops a removal after a while, the topic does not.
    return (
      entry?.spelled(this.interest.name) ??
      (this.#entry?.tombstone === true ? this.#entry : undefined)
    );
  }

  get state(): CacheState {
    return this.host.state;
  }

  /**
   * Requests a `refresh`. A topic without watchers is not notified; when it gets one, the store
   * reads {@link former}.
   */
  miss(key: string): void {
    if (this.watched) this.host.miss(key, this);
  }

  leave(key: string): void {
    this.host.leave(key, this);
  }

  /** Keys of the names that it showed before. */
  get former(): Iterable<string> {
    return this.#history?.former ?? [];
  }

  /** Returns true if the topic already shows that the name does not exist, for this reason. */
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

  /**
   * Returns the variant that matches, in the spelling of the subscription. Removed variants are in
   * the history.
   */
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

  /**
   * Returns the record that the topic shows: that of the name itself, or of an alias if only that
   * leads to a resource.
   */
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

  /**
   * Returns an entry without a resource for the topic. undefined: the topic is not settled, and
   * nothing is known of the name.
   */
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
