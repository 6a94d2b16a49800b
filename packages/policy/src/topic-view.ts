import type { Entry, Interest, Topic, XdsError } from "@xdstp/core";
import { absence, shownSince } from "./own-entry.ts";
import { aloneOf, VisibleLog, type LogWindow } from "./visible-log.ts";

/** What a view asks of its filter. */
export interface ViewHost {
  /** Revision of the filtered source. */
  readonly revision: number;
  readonly window: LogWindow;
  allows(typeUrl: string, name: string): boolean;
  /** The error of a name that may not be seen, beyond that it does not exist. */
  denial(typeUrl: string, name: string): XdsError | undefined;
}

/** The topic that a view is of. */
export interface ViewedTopic {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly isCollection: boolean;
  /** The topic of the source. */
  readonly behind: Topic;
  /** A name that may not be seen: nothing is asked behind. */
  readonly barred: boolean;
}

/** What may be seen of a topic in which something is hidden: a log of its own, with the revisions at which names came into sight and left it. */
export class TopicView {
  readonly #topic: ViewedTopic;
  readonly #host: ViewHost;
  readonly #log: VisibleLog;
  #settled = false;
  #settledAt = 0;
  /** In the log: there is nothing, and never was. */
  #mark: Entry | undefined;
  /** Names that an alias has led to and leads to no more: what the client knows of them is still to be removed when they go. */
  #former: Set<string> | undefined;

  /** Nothing up to `floor` is known any more; -1: all is. */
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

  /** The resource of a name, in the spelling of the topic behind. */
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

  /** Starts with all that is known of the topic behind, oldest first. */
  begin(entries: readonly Entry[]): void {
    for (const entry of entries) this.#note(entry, true);
    this.#settled = this.#topic.barred || this.#topic.behind.settled;
    this.#markEmpty(this.#host.revision);
  }

  /** Starts where everything could be seen so far, with what was shown last. */
  goOn(last: Entry | undefined): void {
    this.#settled = last !== undefined;
    if (last !== undefined) this.#log.add(last, true);
    if (last?.resource === undefined) this.#mark = last;
  }

  /** The removal is sent again: readers may treat the removal of the cache as superseded when the name comes back. */
  repeatNone(revision: number): void {
    if (this.#log.count === 0 && this.#settled)
      this.#noteNone(this.#absence(this.#topic.interest.name, revision));
  }

  /** Takes what is new of the topic behind. */
  take(entries: readonly Entry[]): void {
    for (const entry of entries) this.#note(entry, false);
    if (!this.#topic.isCollection) this.#leaveFormer();
    this.#settle(this.#host.revision);
    this.#markEmpty(this.#host.revision);
  }

  /** Brings the log to what is now and may be seen now. */
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
    // The cache takes its removal for superseded when the name comes back; here that counts only once it may be seen.
    // For what was hidden and is removed already nothing is sent again.
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

  /** A name leads to one resource. That it leads to another now removes nothing: the one before may exist as it did. */
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

  /** The requested name does not exist. For a collection the filter reports it itself. */
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

  /** Why there is nothing may be another reason now. */
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

  /** Settled and empty is an entry, as in every topic; it goes once there is something. */
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

/** A variant was removed (S-DYN-5): its place is free for the next one. A reader that was not shown it is not notified, unless `mayHold` says that a reader may have it nevertheless. */
function noteGone(
  log: VisibleLog,
  { name, revision, error, constraints }: Entry,
  mayHold: () => boolean,
): void {
  const isShown = constraints !== undefined && isVariant(log.newest(name), constraints);
  if (isShown) log.forget(name);
  if (isShown || mayHold()) log.add(absence(name, revision, error, constraints));
}

/** Something newer of a name; in the place of another variant it takes that away. */
function showAnew(log: VisibleLog, held: Entry, entry: Entry): void {
  const constraints = held.resource?.constraints;
  if (constraints !== undefined && !isVariant(entry, constraints))
    log.add(absence(held.name, entry.revision, undefined, constraints));
  log.add(entry);
}

/** A variant may not be seen any more. false: it is none. */
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
