import type { Entry, Interest, Topic, Watcher, XdsError } from "@xdstp/core";
import { isGlob } from "@xdstp/uri";
import { absence, shownSince } from "./own-entry.ts";
import { hideVariant, noteGone, showAnew } from "./variant-entries.ts";
import { aloneOf, VisibleLog, type LogWindow } from "./visible-log.ts";

/** What the topics of one filter share. */
export interface FilterHost {
  /** Revision of the filtered source. */
  readonly revision: number;
  /** How often the policy has changed. */
  readonly epoch: number;
  readonly window: LogWindow;
  allows(typeUrl: string, name: string): boolean;
  /** What is said of a name that may not be seen, beyond that there is none. */
  denial(typeUrl: string, name: string): XdsError | undefined;
  opened(topic: FilteredTopic): void;
  closed(topic: FilteredTopic): void;
}

/**
 * A topic as somebody may see it (S-LIM-8).
 *
 * The topic of a name that may be seen hands on what the topic behind it gives. All others keep a log of what may be seen: globs and `*`,
 * names that may not be seen, and aliases, since what they lead to has a name of its own. A name that may not be seen is not even asked for behind (B-RELAY-16).
 * It has no label: with one, a client that comes back under another policy could not be told from one that holds everything.
 */
export class FilteredTopic implements Topic, Watcher {
  declare readonly stale?: XdsError;
  readonly interest: Interest;
  readonly typeUrl: string;
  readonly #isCollection: boolean;
  readonly #inner: Topic;
  readonly #host: FilterHost;
  #watchers: Watcher | Set<Watcher> | undefined;
  /** The topic behind is watched, or would be. */
  #following = true;
  /** Absent: everything may be seen. */
  #log: VisibleLog | undefined;
  /** Revision of the topic behind up to which it was read. */
  #read = -1;
  #settled = false;
  #settledAt = 0;
  /** In the log: there is nothing, and never was. */
  #mark: Entry | undefined;
  /** Names that an alias has led to and leads to no more: what the client knows of them is still to be removed when they go. */
  #former: Set<string> | undefined;
  /** Without a log: what was shown last. */
  #last: Entry | undefined;
  /** What the watchers know. */
  #told: Told = { settled: false, head: 0, stale: undefined };
  /** While nobody watches: what the log was made of. */
  #seen: Seen | undefined;

  constructor(typeUrl: string, inner: Topic, host: FilterHost) {
    this.typeUrl = typeUrl;
    this.interest = inner.interest;
    this.#isCollection = this.interest.name === "*" || isGlob(this.interest.name);
    this.#inner = inner;
    this.#host = host;
  }

  static {
    // Optional in the contract, so it can be declared but no accessor: it is put on the prototype.
    Object.defineProperty(this.prototype, "stale", { get(this: FilteredTopic) { return this.#stale; } });
  }

  /** The topic of the source. */
  get behind(): Topic { return this.#inner; }

  /** A name that may not be seen. */
  get barred(): boolean { return !this.#following; }

  get settled(): boolean {
    return this.#current === undefined ? this.#inner.settled : this.#settled;
  }

  get head(): number {
    const log = this.#current;
    return log === undefined ? this.#inner.head : Math.max(log.head, this.#settledAt);
  }

  get hash(): number {
    return this.#current?.hash ?? this.#inner.hash;
  }

  changes(after: number): readonly Entry[] | undefined {
    const log = this.#current;
    return log === undefined ? this.#inner.changes(after) : log.after(after, () => this.#inner.changes(after));
  }

  members(): readonly Entry[] {
    const log = this.#current;
    if (log === undefined) return this.#inner.members();
    const none = log.count === 0 ? log.newest(this.interest.name) : undefined;
    return none === undefined ? log.members(() => this.#inner.members()) : aloneOf(none);
  }

  get(name: string): Entry | undefined {
    const log = this.#current;
    const entry = this.#following ? this.#inner.get(name) : undefined;
    if (log === undefined || entry === undefined) return entry;
    const newest = log.newest(entry.name);
    return newest?.resource === undefined ? undefined : newest;
  }

  removed(): readonly Entry[] {
    const log = this.#current;
    return log === undefined ? this.#inner.removed() : log.removals().filter((entry) => entry !== this.#mark);
  }

  gone(name: string): readonly Entry[] {
    return (this.#current === undefined ? this.#inner.gone?.(name) : this.#log?.goneOf(name).filter((entry) => entry !== this.#mark)) ?? [];
  }

  watch(watcher: Watcher): void {
    const known = this.#watchers;
    if (known instanceof Set) known.add(watcher);
    else if (known === undefined) this.#open(watcher);
    else if (known !== watcher) this.#watchers = new Set([known, watcher]);
  }

  unwatch(watcher: Watcher): void {
    const known = this.#watchers;
    if (known instanceof Set) known.delete(watcher);
    if (known === watcher || (known instanceof Set && known.size === 0)) this.#close();
  }

  /** The topic behind has moved. */
  wake(): void {
    this.#pull();
    if (this.hasNews) this.tell();
  }

  /** The policy has changed. Watchers are told by `tell`, once all topics have been asked. */
  reconsider(revision: number): void {
    this.#pull();
    if (!this.#isCollection) this.#follow(this.#host.allows(this.typeUrl, this.interest.name));
    const log = this.#log ?? (this.#following ? undefined : this.#bar(revision));
    if (log !== undefined) this.#compare(log, revision);
  }

  /** Something has changed that the watchers do not know. */
  get hasNews(): boolean {
    const { settled, head, stale } = this.#now();
    return settled !== this.#told.settled || head !== this.#told.head || stale !== this.#told.stale;
  }

  /** Tells all watchers; one that throws does not keep the others from being told. */
  tell(): void {
    const known = this.#watchers;
    this.#told = this.#now();
    for (const watcher of known instanceof Set ? [...known] : known === undefined ? [] : [known]) {
      try {
        watcher.wake(this);
      } catch (error) {
        queueMicrotask(() => { throw error; });
      }
    }
  }

  get #stale(): XdsError | undefined { return this.#following ? this.#inner.stale : undefined; }

  /** The log as of now; undefined: everything may be seen. */
  get #current(): VisibleLog | undefined {
    if (this.#watchers === undefined) this.#look();
    else this.#pull();
    return this.#log;
  }

  #now(): Told {
    const log = this.#log;
    if (log === undefined) return { settled: this.#inner.settled, head: this.#inner.head, stale: this.#stale };
    return { settled: this.#settled, head: Math.max(log.head, this.#settledAt), stale: this.#stale };
  }

  #open(watcher: Watcher): void {
    this.#watchers = watcher;
    this.#following = this.#isCollection || this.#host.allows(this.typeUrl, this.interest.name);
    if (this.#following) this.#inner.watch(this);
    this.#begin();
    this.#told = this.#now();
    this.#host.opened(this);
  }

  /** Until the source moves it reads as it did: whoever leaves may still ask what it has missed. */
  #close(): void {
    this.#pull();
    this.#seen = { revision: this.#host.revision, epoch: this.#host.epoch, members: undefined, settled: this.#now().settled };
    if (this.#following) this.#inner.unwatch(this);
    this.#watchers = undefined;
    this.#host.closed(this);
  }

  #follow(allowed: boolean): void {
    if (allowed === this.#following) return;
    this.#following = allowed;
    this.#read = -1;
    if (allowed) this.#inner.watch(this);
    else this.#inner.unwatch(this);
  }

  /** Reads it anew if something has moved while nobody watches. */
  #look(): void {
    const { epoch, revision } = this.#host;
    if (this.#seen?.epoch === epoch && this.#seen.revision === revision) return;
    this.#following = this.#isCollection || this.#host.allows(this.typeUrl, this.interest.name);
    const members = this.#following ? this.#inner.members() : undefined;
    const settled = !this.#following || this.#inner.settled;
    const isSame = this.#seen?.epoch === epoch && this.#seen.settled === settled && this.#seen.members === members;
    this.#seen = { revision, epoch, members, settled };
    if (!isSame) this.#begin();
  }

  #begin(): void {
    this.#read = -1;
    this.#settledAt = 0;
    this.#log = this.#mark = this.#last = this.#former = undefined;
    if (!this.#isCollection && this.#following && this.#isPlain()) { this.#seePlain(); return; }
    const history = this.#following ? this.#inner.changes(0) : [];
    const log = new VisibleLog(this.#host.window, history === undefined ? this.#inner.head : -1);
    this.#log = log;
    for (const entry of history ?? this.#remembered()) this.#note(log, entry, true);
    this.#settled = !this.#following || this.#inner.settled;
    if (this.#following) this.#read = this.#inner.head;
    this.#markEmpty(log, this.#host.revision);
  }

  /** All that is still known of the topic behind, oldest first. */
  #remembered(): readonly Entry[] {
    return [...this.#inner.members(), ...this.#inner.removed()].sort((a, b) => a.revision - b.revision);
  }

  /** It shows nothing but the name itself. */
  #isPlain(): boolean {
    return this.#inner.changes(0)?.every(({ name }) => name === this.interest.name) === true;
  }

  #seePlain(): void {
    this.#last = this.#inner.members()[0];
    this.#read = this.#inner.head;
  }

  #pull(): void {
    if (!this.#following || this.#watchers === undefined) return;
    const { head, settled } = this.#inner;
    if (head === this.#read && (this.#log === undefined || this.#settled || !settled)) return;
    if (this.#log === undefined && this.#isPlain()) this.#seePlain();
    else this.#take(this.#log ?? this.#leavePlain());
  }

  /** From now on there is something to hide. What was shown so far stands. */
  #leavePlain(): VisibleLog {
    const log = new VisibleLog(this.#host.window, -1);
    const last = this.#last;
    this.#log = log;
    this.#last = undefined;
    this.#settled = last !== undefined;
    this.#read = last?.revision ?? -1;
    if (last !== undefined) log.add(last, true);
    if (last?.resource === undefined) this.#mark = last;
    return log;
  }

  /** That there was nothing is said once more: what the cache has said of it, readers may take for superseded when the name comes back. */
  #bar(revision: number): VisibleLog {
    const { name } = this.interest;
    const log = this.#leavePlain();
    if (log.count === 0 && this.#settled) this.#noteNone(log, this.#absence(name, revision));
    return log;
  }

  #take(log: VisibleLog): void {
    const entries = this.#inner.changes(Math.max(this.#read, 0));
    if (entries === undefined) { this.#compare(log, this.#host.revision); return; }
    for (const entry of entries) this.#note(log, entry, false);
    if (!this.#isCollection) this.#leaveFormer(log);
    this.#read = this.#inner.head;
    this.#settle(this.#host.revision);
    this.#markEmpty(log, this.#host.revision);
  }

  #note(log: VisibleLog, entry: Entry, isFirst: boolean): void {
    const { name, resource, since } = entry;
    const isOwn = name === this.interest.name;
    if (entry.constraints !== undefined) { noteGone(log, entry, () => isFirst && this.#host.allows(this.typeUrl, name)); return; }
    if (resource === undefined && isOwn) { this.#noteNone(log, entry); return; }
    const held = log.newest(name);
    const allowed = isOwn || this.#host.allows(this.typeUrl, name);
    // The cache takes its removal for superseded when the name comes back; here that counts only once it may be seen.
    if (resource === undefined) { if (held !== undefined || this.#former?.delete(name) === true || (isFirst && allowed)) log.add(absence(name, entry.revision, entry.error)); return; }
    if (allowed) log.add(shownSince(entry, entry.revision, held?.resource === undefined ? since : Math.max(since, held.since)));
    else if (held?.resource !== undefined) log.add(absence(name, entry.revision));
  }

  /** A name leads to one resource. That it leads to another now removes nothing: the one before may exist as it did. */
  #leaveFormer(log: VisibleLog): void {
    const target = this.#inner.members()[0]?.name;
    for (const { name } of log.members()) {
      if (name === target) continue;
      log.forget(name);
      (this.#former ??= new Set()).add(name);
    }
    if (target !== undefined) this.#former?.delete(target);
  }

  /** There is nothing of the name that was asked for. Of a collection the filter says so itself. */
  #noteNone(log: VisibleLog, entry: Entry): void {
    if (this.#isCollection) return;
    const held = log.newest(entry.name);
    const none = absence(entry.name, entry.revision, entry.error);
    log.add(none, true);
    this.#mark = held === undefined || held === this.#mark ? none : undefined;
  }

  #settle(revision: number): void {
    if (this.#settled || (this.#following && !this.#inner.settled)) return;
    this.#settled = true;
    this.#settledAt = revision;
  }

  /** Brings the log to what is now and may be seen now. */
  #compare(log: VisibleLog, revision: number): void {
    const visible = new Set<string>();
    for (const entry of this.#following ? this.#inner.members() : []) {
      const { name, resource } = entry;
      if (resource === undefined || !(name === this.interest.name || this.#host.allows(this.typeUrl, name))) continue;
      visible.add(name);
      const held = log.newest(name);
      if (held?.resource === undefined) log.add(shownSince(entry, revision, revision));
      else if (held.revision < entry.revision) showAnew(log, held, shownSince(entry, revision, Math.max(entry.since, held.since)));
    }
    if (!this.#isCollection && this.#following) this.#leaveFormer(log);
    for (const name of this.#former ?? []) if (!this.#following || !this.#host.allows(this.typeUrl, name)) this.#removeFormer(log, name, revision);
    for (const held of log.members()) if (!visible.has(held.name) && !hideVariant(log, held, revision)) log.add(this.#absence(held.name, revision), held.name === this.interest.name);
    this.#read = this.#following ? this.#inner.head : -1;
    this.#settle(revision);
    if (log.count === 0 && !this.#isCollection) this.#explain(log, revision);
    this.#markEmpty(log, revision);
  }

  #removeFormer(log: VisibleLog, name: string, revision: number): void {
    this.#former?.delete(name);
    log.add(absence(name, revision));
  }

  /** Why there is nothing may be another reason now. */
  #explain(log: VisibleLog, revision: number): void {
    const { name } = this.interest;
    const held = log.newest(name);
    const error = this.#following ? this.#inner.members()[0]?.error : this.#host.denial(this.typeUrl, name);
    if (held === undefined || held.error?.message === error?.message) return;
    this.#noteNone(log, absence(name, revision, error));
  }

  /** Settled and empty is an entry, as in every topic; it goes once there is something. */
  #markEmpty(log: VisibleLog, revision: number): void {
    const { name } = this.interest;
    if (log.count > 0) {
      if (this.#mark !== undefined && log.newest(name) === this.#mark) log.forget(name);
      this.#mark = undefined;
    } else if (this.#settled && name !== "*" && log.newest(name) === undefined) {
      this.#mark = this.#absence(name, revision);
      log.add(this.#mark, true);
    }
  }

  #absence(name: string, revision: number): Entry {
    return absence(name, revision, this.#following ? undefined : this.#host.denial(this.typeUrl, name));
  }
}

/** What the watchers of a topic look at when they are woken. */
interface Told {
  readonly settled: boolean;
  readonly head: number;
  readonly stale: XdsError | undefined;
}

/** What the log of a topic that nobody watches was made of. */
interface Seen {
  readonly revision: number;
  readonly epoch: number;
  /** Of the topic behind; absent: not followed, or not known. */
  readonly members: readonly Entry[] | undefined;
  readonly settled: boolean;
}
