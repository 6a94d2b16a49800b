import {
  isSameError,
  type Entry,
  type Interest,
  type Topic,
  type Watcher,
  type XdsError,
} from "@xdstp/core";
import { isGlob } from "@xdstp/uri";
import { TopicView, type ViewedTopic, type ViewHost } from "./topic-view.ts";

/** The state that the topics of one filter share. */
export interface FilterHost extends ViewHost {
  /** The number of changes of the policy so far. */
  readonly epoch: number;
  opened(topic: FilteredTopic): void;
  closed(topic: FilteredTopic): void;
}

/**
 * A topic as one policy shows it (S-LIM-8).
 *
 * The topic of an allowed name passes on what the topic of the source returns. All other topics
 * have a view of what is allowed: globs and `*`, forbidden names, and aliases, since their resource
 * has a name of its own. The source is not even asked for a forbidden name (B-RELAY-16).
 * A filtered topic has no label: with a label, a client that comes back under another policy would
 * seem to have everything.
 */
export class FilteredTopic implements Topic, Watcher, ViewedTopic {
  declare readonly stale?: XdsError;
  readonly interest: Interest;
  readonly typeUrl: string;
  readonly isCollection: boolean;
  /** The topic of the source. */
  readonly behind: Topic;
  readonly #host: FilterHost;
  #watchers: Watcher | Set<Watcher> | undefined;
  /** True if the topic of the source is watched, or would be. */
  #following = true;
  /** The view. undefined: everything is allowed. */
  #view: TopicView | undefined;
  /** The revision of the topic of the source up to which it was read. */
  #read = -1;
  /** Without a view: the entry that was last shown. */
  #last: Entry | undefined;
  /** The state that the watchers know. */
  #told: Told = { settled: false, head: 0, stale: undefined };
  /** Without watchers: the state from which the view was made. */
  #seen: Seen | undefined;

  constructor(typeUrl: string, inner: Topic, host: FilterHost) {
    this.typeUrl = typeUrl;
    this.interest = inner.interest;
    this.isCollection = this.interest.name === "*" || isGlob(this.interest.name);
    this.behind = inner;
    this.#host = host;
  }

  static {
    // It is optional in the contract, so it cannot be declared as an accessor here; the accessor is
    // put on the prototype.
    Object.defineProperty(this.prototype, "stale", {
      get(this: FilteredTopic) {
        return this.#stale;
      },
    });
  }

  /** True for a forbidden name. */
  get barred(): boolean {
    return !this.#following;
  }

  get settled(): boolean {
    return (this.#current ?? this.behind).settled;
  }

  get head(): number {
    return (this.#current ?? this.behind).head;
  }

  get hash(): number {
    return (this.#current ?? this.behind).hash;
  }

  changes(after: number): readonly Entry[] | undefined {
    return (this.#current ?? this.behind).changes(after);
  }

  members(): readonly Entry[] {
    return (this.#current ?? this.behind).members();
  }

  get(name: string): Entry | undefined {
    const view = this.#current;
    const entry = this.#following ? this.behind.get(name) : undefined;
    return view === undefined || entry === undefined ? entry : view.get(entry.name);
  }

  removed(): readonly Entry[] {
    return (this.#current ?? this.behind).removed();
  }

  gone(name: string): readonly Entry[] {
    return (this.#current ?? this.behind).gone?.(name) ?? [];
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

  /** Called when the topic of the source has changed. */
  wake(): void {
    this.#pull();
    if (this.hasUpdates) this.tell();
  }

  /** Applies a change of the policy. `tell` notifies the watchers, once all topics have changed. */
  reconsider(revision: number): void {
    this.#pull();
    if (!this.isCollection) this.#follow(this.#host.allows(this.typeUrl, this.interest.name));
    const view = this.#view ?? (this.#following ? undefined : this.#bar(revision));
    if (view !== undefined) this.#compare(view, revision);
  }

  /**
   * True if something has changed that the watchers do not know. An equal error that is reported
   * again is not a change (S-ERR-1).
   */
  get hasUpdates(): boolean {
    const { settled, head, stale } = this.#now();
    return (
      settled !== this.#told.settled ||
      head !== this.#told.head ||
      !isSameError(stale, this.#told.stale)
    );
  }

  /** Wakes all watchers. If one throws, the others are woken nevertheless. */
  tell(): void {
    const known = this.#watchers;
    this.#told = this.#now();
    for (const watcher of known instanceof Set ? [...known] : known === undefined ? [] : [known]) {
      try {
        watcher.wake(this);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  get #stale(): XdsError | undefined {
    return this.#following ? this.behind.stale : undefined;
  }

  /** The present view. undefined: everything is allowed. */
  get #current(): TopicView | undefined {
    if (this.#watchers === undefined) this.#look();
    else this.#pull();
    return this.#view;
  }

  #now(): Told {
    const { settled, head } = this.#view ?? this.behind;
    return { settled, head, stale: this.#stale };
  }

  #open(watcher: Watcher): void {
    this.#watchers = watcher;
    this.#following = this.isCollection || this.#host.allows(this.typeUrl, this.interest.name);
    if (this.#following) this.behind.watch(this);
    this.#begin();
    this.#told = this.#now();
    this.#host.opened(this);
  }

  /**
   * Ends the watch. Until the source changes the topic returns what it did, so that a reader that
   * ends can still read what it has missed.
   */
  #close(): void {
    this.#pull();
    this.#seen = {
      revision: this.#host.revision,
      epoch: this.#host.epoch,
      members: undefined,
      settled: this.#now().settled,
    };
    if (this.#following) this.behind.unwatch(this);
    this.#watchers = undefined;
    this.#host.closed(this);
  }

  #follow(allowed: boolean): void {
    if (allowed === this.#following) return;
    this.#following = allowed;
    this.#read = -1;
    if (allowed) this.behind.watch(this);
    else this.behind.unwatch(this);
  }

  /**
   * Reads the topic of the source again if something has changed while the topic has no watchers.
   */
  #look(): void {
    const { epoch, revision } = this.#host;
    if (this.#seen?.epoch === epoch && this.#seen.revision === revision) return;
    this.#following = this.isCollection || this.#host.allows(this.typeUrl, this.interest.name);
    const members = this.#following ? this.behind.members() : undefined;
    const settled = !this.#following || this.behind.settled;
    const isSame =
      this.#seen?.epoch === epoch &&
      this.#seen.settled === settled &&
      this.#seen.members === members;
    this.#seen = { revision, epoch, members, settled };
    if (!isSame) this.#begin();
  }

  #begin(): void {
    this.#read = -1;
    this.#view = this.#last = undefined;
    if (!this.isCollection && this.#following && this.#isPlain()) {
      this.#seePlain();
      return;
    }
    const history = this.#following ? this.behind.changes(0) : [];
    this.#view = new TopicView(this, this.#host, history === undefined ? this.behind.head : -1);
    this.#view.begin(history ?? this.#remembered());
    if (this.#following) this.#read = this.behind.head;
  }

  /** Returns everything that is still known of the topic of the source, oldest first. */
  #remembered(): readonly Entry[] {
    return [...this.behind.members(), ...this.behind.removed()].sort(
      (a, b) => a.revision - b.revision,
    );
  }

  /** Returns true if the topic of the source has only entries of the name itself. */
  #isPlain(): boolean {
    return this.behind.changes(0)?.every(({ name }) => name === this.interest.name) === true;
  }

  #seePlain(): void {
    this.#last = this.behind.members()[0];
    this.#read = this.behind.head;
  }

  #pull(): void {
    if (!this.#following || this.#watchers === undefined) return;
    const { head, settled } = this.behind;
    if (head === this.#read && (this.#view === undefined || this.#view.settled || !settled)) return;
    if (this.#view === undefined && this.#isPlain()) this.#seePlain();
    else this.#take(this.#view ?? this.#leavePlain());
  }

  /** Creates a view, since something is hidden from now on. What was shown so far stays visible. */
  #leavePlain(): TopicView {
    const last = this.#last;
    this.#view = new TopicView(this, this.#host);
    this.#view.goOn(last);
    this.#last = undefined;
    this.#read = last?.revision ?? -1;
    return this.#view;
  }

  #bar(revision: number): TopicView {
    const view = this.#leavePlain();
    view.repeatNone(revision);
    return view;
  }

  #take(view: TopicView): void {
    const entries = this.behind.changes(Math.max(this.#read, 0));
    if (entries === undefined) {
      this.#compare(view, this.#host.revision);
      return;
    }
    view.take(entries);
    this.#read = this.behind.head;
  }

  #compare(view: TopicView, revision: number): void {
    view.compare(revision);
    this.#read = this.#following ? this.behind.head : -1;
  }
}

/** The state of a topic that its watchers read when they are woken. */
interface Told {
  readonly settled: boolean;
  readonly head: number;
  readonly stale: XdsError | undefined;
}

/** The state from which the view of a topic without watchers was made. */
interface Seen {
  readonly revision: number;
  readonly epoch: number;
  /**
   * The members of the topic of the source. undefined: it is not watched, or they are not known.
   */
  readonly members: readonly Entry[] | undefined;
  readonly settled: boolean;
}
