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

/** What the topics of one filter share. */
export interface FilterHost extends ViewHost {
  /** How often the policy has changed. */
  readonly epoch: number;
  opened(topic: FilteredTopic): void;
  closed(topic: FilteredTopic): void;
}

/**
 * A topic as one policy shows it (S-LIM-8).
 *
 * The topic of a name that may be seen hands on what the topic behind it gives. All others keep a view of what may be seen: globs and `*`,
 * names that may not be seen, and aliases, since what they lead to has a name of its own. A name that may not be seen is not even asked for behind (B-RELAY-16).
 * It has no label: with one, a client that comes back under another policy would look like one that has everything.
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
  /** The topic behind is watched, or would be. */
  #following = true;
  /** Absent: everything may be seen. */
  #view: TopicView | undefined;
  /** Revision of the topic behind up to which it was read. */
  #read = -1;
  /** Without a view: what was shown last. */
  #last: Entry | undefined;
  /** What the watchers know. */
  #told: Told = { settled: false, head: 0, stale: undefined };
  /** Without watchers: what the view was made of. */
  #seen: Seen | undefined;

  constructor(typeUrl: string, inner: Topic, host: FilterHost) {
    this.typeUrl = typeUrl;
    this.interest = inner.interest;
    this.isCollection = this.interest.name === "*" || isGlob(this.interest.name);
    this.behind = inner;
    this.#host = host;
  }

  static {
    // Optional in the contract, so it can be declared but no accessor: it is put on the prototype.
    Object.defineProperty(this.prototype, "stale", {
      get(this: FilteredTopic) {
        return this.#stale;
      },
    });
  }

  /** A name that may not be seen. */
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

  /** The topic behind has moved. */
  wake(): void {
    this.#pull();
    if (this.hasUpdates) this.tell();
  }

  /** The policy has changed. Watchers are notified by `tell`, once all topics have changed. */
  reconsider(revision: number): void {
    this.#pull();
    if (!this.isCollection) this.#follow(this.#host.allows(this.typeUrl, this.interest.name));
    const view = this.#view ?? (this.#following ? undefined : this.#bar(revision));
    if (view !== undefined) this.#compare(view, revision);
  }

  /** Something has changed that the watchers do not know. An equal error that is reported again has not (S-ERR-1). */
  get hasUpdates(): boolean {
    const { settled, head, stale } = this.#now();
    return (
      settled !== this.#told.settled ||
      head !== this.#told.head ||
      !isSameError(stale, this.#told.stale)
    );
  }

  /** Tells all watchers; one that throws does not keep the others from being told. */
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

  /** The view as of now; undefined: everything may be seen. */
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

  /** Until the source moves it reads as it did: whoever leaves may still ask what it has missed. */
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

  /** Reads it again if something has moved while it has no watchers. */
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

  /** All that is still known of the topic behind, oldest first. */
  #remembered(): readonly Entry[] {
    return [...this.behind.members(), ...this.behind.removed()].sort(
      (a, b) => a.revision - b.revision,
    );
  }

  /** It shows nothing but the name itself. */
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

  /** From now on there is something to hide. What was shown so far stands. */
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

/** What the watchers of a topic look at when they are woken. */
interface Told {
  readonly settled: boolean;
  readonly head: number;
  readonly stale: XdsError | undefined;
}

/** What the view of a topic without watchers was made of. */
interface Seen {
  readonly revision: number;
  readonly epoch: number;
  /** Of the topic behind; absent: not followed, or not known. */
  readonly members: readonly Entry[] | undefined;
  readonly settled: boolean;
}
