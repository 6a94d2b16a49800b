import type { Entry, Interest, Topic, XdsError } from "@xdstp/core";
import { absence, shownSince } from "./own-entry.ts";
import { aloneOf, VisibleLog, type LogWindow } from "./visible-log.ts";

/** The filter, as a view uses it. */
export interface ViewHost {
  /** The revision of the filtered source. */
  readonly revision: number;
  readonly window: LogWindow;
  allows(typeUrl: string, name: string): boolean;
  /** Returns the error of a forbidden name. undefined: it only does not exist. */
  denial(typeUrl: string, name: string): XdsError | undefined;
}

/** The topic of a view. */
export interface ViewedTopic {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly isCollection: boolean;
  /** The topic of the source. */
  readonly behind: Topic;
  /** True for a forbidden name: nothing is read from the source. */
  readonly barred: boolean;
}

/**
 * The allowed part of a topic in which something is hidden: a log of its own, with the revisions at
 * which names became visible or hidden.
 */
export class TopicView {
  readonly #topic: ViewedTopic;
  readonly #host: ViewHost;
  readonly #log: VisibleLog;
  #settled = false;
  #settledAt = 0;
  /** The entry in the log that says that nothing exists and nothing ever did. */
  #mark: Entry | undefined;
  /**
   * Names that an alias has led to and no longer leads to. The client may have them, so their
   * removals are still to be sent.
   */
  #former: Set<string> | undefined;

  /** @param floor - The revision up to which the history is not known; -1: all of it is known */
  constructor(topic: ViewedTopic, host: ViewHost, floor = -1) {
    this.#topic = topic;
    this.#host = host;
    this.#log = new VisibleLog(host.window, floor);
  }

  get settled(): boolean {
    return this.#settled;
  }

  get head(): number {
    return Math.max(this.#log.head, this.#settledAt);
  }

  get hash(): number {
    return this.#log.hash;
  }

  changes(after: number): readonly Entry[] | undefined {
    return this.#log.after(after, () => this.#topic.behind.changes(after));
  }

  members(): readonly Entry[] {
    const none = this.#log.count === 0 ? this.#log.newest(this.#topic.interest.name) : undefined;
    return none === undefined
      ? this.#log.members(() => this.#topic.behind.members())
      : aloneOf(none);
  }

  /**
   * Returns the entry of a name that has a resource, in the spelling of the topic of the source.
   */
  get(name: string): Entry | undefined {
    const newest = this.#log.newest(name);
    return newest?.resource === undefined ? undefined : newest;
  }

  removed(): readonly Entry[] {
    return this.#log.removals().filter((entry) => entry !== this.#mark);
  }

  gone(name: string): readonly Entry[] {
    return this.#log.goneOf(name).filter((entry) => entry !== this.#mark);
  }

  /** Starts with everything that is known of the topic of the source, oldest first. */
  begin(entries: readonly Entry[]): void {
    for (const entry of entries) this.#note(entry, true);
    this.#settled = this.#topic.barred || this.#topic.behind.settled;
    this.#markEmpty(this.#host.revision);
  }

  /** Starts with the entry that was last shown, after a time in which everything was allowed. */
  goOn(last: Entry | undefined): void {
    this.#settled = last !== undefined;
    if (last !== undefined) this.#log.add(last, true);
    if (last?.resource === undefined) this.#mark = last;
  }

  /**
   * Adds the removal again: readers may treat the removal of the cache as superseded when the name
   * comes back.
   */
  repeatNone(revision: number): void {
    if (this.#log.count === 0 && this.#settled)
      this.#noteNone(this.#absence(this.#topic.interest.name, revision));
  }

  /** Reads new entries of the topic of the source. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries) this.#note(entry, false);
    if (!this.#topic.isCollection) this.#leaveFormer();
    this.#settle(this.#host.revision);
    this.#markEmpty(this.#host.revision);
  }

  /** Brings the log to the present state and the present rights. */
  compare(revision: number): void {
    const { isCollection, barred } = this.#topic;
    const visible = this.#showVisible(revision);
    if (!isCollection && !barred) this.#leaveFormer();
    for (const name of this.#former ?? [])
      if (!this.#allows(name)) this.#removeFormer(name, revision);
    for (const held of this.#log.members())
      if (!visible.has(held.name) && !hideVariant(this.#log, held, revision))
        this.#log.add(this.#absence(held.name, revision), this.#isOwn(held.name));
    this.#settle(revision);
    if (this.#log.count === 0 && !isCollection) this.#explain(revision);
    this.#markEmpty(revision);
  }

  #isOwn(name: string): boolean {
    return name === this.#topic.interest.name;
  }

  #allows(name: string): boolean {
    return !this.#topic.barred && this.#host.allows(this.#topic.typeUrl, name);
  }

  #showVisible(revision: number): ReadonlySet<string> {
    const visible = new Set<string>();
    for (const entry of this.#topic.barred ? [] : this.#topic.behind.members()) {
      const { name, resource } = entry;
      if (resource === undefined || !(this.#isOwn(name) || this.#allows(name))) continue;
      visible.add(name);
      const held = this.#log.newest(name);
      if (held?.resource === undefined) this.#log.add(shownSince(entry, revision, revision));
      else if (held.revision < entry.revision)
        showAnew(this.#log, held, shownSince(entry, revision, Math.max(entry.since, held.since)));
    }
    return visible;
  }

  #note(entry: Entry, isFirst: boolean): void {
    const { name, resource, since } = entry;
    const isOwn = this.#isOwn(name);
    if (entry.constraints !== undefined) {
      noteGone(this.#log, entry, () => isFirst && this.#allows(name));
      return;
    }
    if (resource === undefined && isOwn) {
      this.#noteNone(entry);
      return;
    }
    const held = this.#log.newest(name);
    const allowed = isOwn || this.#allows(name);
    // When a name comes back, the cache treats its removal as superseded; for readers of the filter
    // that holds only once the name is allowed.
    // A name that was hidden is already removed for these readers, so nothing is sent again.
    if (resource === undefined) {
      if (
        held?.resource !== undefined ||
        this.#former?.delete(name) === true ||
        (allowed && (isFirst || held !== undefined))
      )
        this.#log.add(absence(name, entry.revision, entry.error));
      return;
    }
    if (allowed)
      this.#log.add(
        shownSince(
          entry,
          entry.revision,
          held?.resource === undefined ? since : Math.max(since, held.since),
        ),
      );
    else if (held?.resource !== undefined) this.#log.add(absence(name, entry.revision));
  }

  /**
   * Forgets names that an alias no longer leads to. They are not removed: they may still exist as
   * before.
   */
  #leaveFormer(): void {
    const target = this.#topic.behind.members()[0]?.name;
    for (const { name } of this.#log.members()) {
      if (name === target) continue;
      this.#log.forget(name);
      (this.#former ??= new Set()).add(name);
    }
    if (target !== undefined) this.#former?.delete(target);
  }

  #removeFormer(name: string, revision: number): void {
    this.#former?.delete(name);
    this.#log.add(absence(name, revision));
  }

  /**
   * Notes that the requested name does not exist. For a collection the filter reports that itself.
   */
  #noteNone(entry: Entry): void {
    if (this.#topic.isCollection) return;
    const held = this.#log.newest(entry.name);
    const none = absence(entry.name, entry.revision, entry.error);
    this.#log.add(none, true);
    this.#mark = held === undefined || held === this.#mark ? none : undefined;
  }

  #settle(revision: number): void {
    if (this.#settled || (!this.#topic.barred && !this.#topic.behind.settled)) return;
    this.#settled = true;
    this.#settledAt = revision;
  }

  /** Updates the reason why the name does not exist. */
  #explain(revision: number): void {
    const {
      typeUrl,
      interest: { name },
      barred,
      behind,
    } = this.#topic;
    const held = this.#log.newest(name);
    const error = barred ? this.#host.denial(typeUrl, name) : behind.members()[0]?.error;
    if (held === undefined || held.error?.message === error?.message) return;
    this.#noteNone(absence(name, revision, error));
  }

  /**
   * Adds the entry of a settled, empty topic, as every topic has one; removes it when there is
   * something.
   */
  #markEmpty(revision: number): void {
    const { name } = this.#topic.interest;
    if (this.#log.count > 0) {
      if (this.#mark !== undefined && this.#log.newest(name) === this.#mark) this.#log.forget(name);
      this.#mark = undefined;
    } else if (this.#settled && name !== "*" && this.#log.newest(name) === undefined) {
      this.#mark = this.#absence(name, revision);
      this.#log.add(this.#mark, true);
    }
  }

  #absence(name: string, revision: number): Entry {
    return absence(
      name,
      revision,
      this.#topic.barred ? this.#host.denial(this.#topic.typeUrl, name) : undefined,
    );
  }
}

/**
 * Notes that a variant was removed (S-DYN-5). A reader that was not shown the variant is not
 * notified, unless `mayHold` says that a reader may have it nevertheless.
 */
function noteGone(
  log: VisibleLog,
  { name, revision, error, constraints }: Entry,
  mayHold: () => boolean,
): void {
  const isShown = constraints !== undefined && isVariant(log.newest(name), constraints);
  if (isShown) log.forget(name);
  if (isShown || mayHold()) log.add(absence(name, revision, error, constraints));
}

/** Shows a newer entry of a name. If it is another variant, the earlier one is removed. */
function showAnew(log: VisibleLog, held: Entry, entry: Entry): void {
  const constraints = held.resource?.constraints;
  if (constraints !== undefined && !isVariant(entry, constraints))
    log.add(absence(held.name, entry.revision, undefined, constraints));
  log.add(entry);
}

/** Hides a variant that is not allowed any more. Returns false if the entry is not a variant. */
function hideVariant(log: VisibleLog, { name, resource }: Entry, revision: number): boolean {
  if (resource?.constraints === undefined) return false;
  log.forget(name);
  log.add(absence(name, revision, undefined, resource.constraints));
  return true;
}

function isVariant(entry: Entry | undefined, constraints: Uint8Array): boolean {
  const own = entry?.resource?.constraints;
  return own !== undefined && Buffer.compare(own, constraints) === 0;
}
