import { CompactedLog, isSameError, type Entry, type Interest } from "@xdstp/core";

import { BaseTopic, type TopicHost } from "./base-topic.ts";
import type { Group, GroupTopic, NameRecord } from "./name-record.ts";
import { hashWith, hashWithout } from "./content-version.ts";
import { NO_ENTRIES, StateEntry } from "./state-entry.ts";

/** The store of a type, as its collection topics use it. */
export interface CollectionHost extends TopicHost {
  /** Returns the present group of a key. */
  group(key: string): Group;
  /** Returns the records of a group that exist or have a tombstone. */
  recordsIn(group: Group): Iterable<NameRecord>;
  /** Drops removals that are too old. */
  expire(): void;
  /**
   * Returns the newest entry of a name (any spelling) for readers with these parameters. undefined:
   * the group does not have it.
   */
  entryIn(group: Group, name: string, parameters: Interest["parameters"]): StateEntry | undefined;
  /** Returns the entry of a record for readers with these parameters; it may be a removal. */
  entryOf(record: NameRecord, parameters: Interest["parameters"]): StateEntry | undefined;
  /** Returns the removed variants of a name. */
  goneOf(name: string, parameters: Interest["parameters"]): readonly StateEntry[];
}

const isAlive = ({ dead }: StateEntry): boolean => !dead;

/** The topic of a glob, or of the wildcard. */
export class CollectionTopic extends BaseTopic implements GroupTopic {
  /** The group. It is replaced only while the topic has no watchers. */
  group: Group;
  declare protected readonly host: CollectionHost;
  readonly #log: CompactedLog<StateEntry>;
  #settled = false;
  #head = 0;
  #label: string | undefined;
  #hash = 0;
  #count = 0;
  #floor = 0;
  /** The revision of the cache up to which a topic without watchers has been read. */
  #read = -1;
  /**
   * A description of what a topic without watchers last read, so that it keeps its arrays while
   * nothing changes.
   */
  #view = "";
  #members: readonly StateEntry[] | undefined;
  /** The entry that is in the log while the collection is settled and empty (S-GLOB-3). */
  #empty: StateEntry | undefined;

  constructor(host: CollectionHost, interest: Interest, group: Group) {
    super(host, interest, group.key);
    this.group = group;
    this.#log = new CompactedLog(isAlive, (steps) => {
      host.state.work += steps;
    });
  }

  get settled(): boolean {
    this.sync();
    return this.#settled;
  }

  get head(): number {
    this.sync();
    return this.#head;
  }

  get hash(): number {
    this.sync();
    return this.#hash;
  }

  changes(after: number): readonly Entry[] | undefined {
    this.sync();
    if (after >= this.#head) return NO_ENTRIES;
    return after < this.#floor ? undefined : this.#log.after(after);
  }

  members(): readonly Entry[] {
    this.sync();
    return (this.#members ??=
      this.#empty === undefined
        ? this.#log.filter(({ resource }) => resource !== undefined)
        : this.#empty.alone());
  }

  get(name: string): Entry | undefined {
    return this.host.entryIn(this.group, name, this.interest.parameters);
  }

  removed(): readonly Entry[] {
    this.sync();
    this.host.expire();
    return this.#log.filter(({ tombstone }) => tombstone);
  }

  gone(name: string): readonly Entry[] {
    return this.host.goneOf(name, this.interest.parameters);
  }

  /** Notes that a covered name has a new entry. */
  note(old: StateEntry | undefined, entry: StateEntry): void {
    if (entry.resource === undefined && !entry.tombstone) return;
    this.#touch();
    if (old?.resource !== undefined) {
      this.#count--;
      this.#hash = hashWithout(this.#hash, old.resource.hash);
    }
    if (old !== undefined && !old.gone && (old.tombstone || old.resource !== undefined))
      this.#log.bury();
    this.#log.append(entry);
    if (entry.resource === undefined) {
      this.#markEmpty();
      return;
    }
    this.#count++;
    this.#hash = hashWith(this.#hash, entry.resource.hash);
    this.#unmarkEmpty();
  }

  /** Notes that a tombstone of the log has left the window. */
  drop(floor: number): void {
    this.#floor = floor;
    this.#log.bury();
  }

  /** Settles the topic; a second time only if it is empty for another reason than before. */
  settle(): void {
    if (
      this.#settled &&
      (this.#empty === undefined || isSameError(this.#empty.error, this.group.error))
    )
      return;
    this.#settled = true;
    this.#touch();
    this.#unmarkEmpty();
    this.#markEmpty();
  }

  protected get movedBy(): string | undefined {
    return this.#label;
  }

  protected sync(): void {
    const { state } = this.host;
    if (this.watched) return;
    const { parameters } = this.interest;
    this.group = this.host.group(this.key);
    if (this.#read === state.revision) return;
    this.#read = state.revision;
    this.#settled = state.answersAll || this.group.settled;
    const alive = [...this.host.recordsIn(this.group)]
      .flatMap((record) => this.host.entryOf(record, parameters) ?? [])
      .sort((a, b) => a.revision - b.revision);
    state.work += alive.length;
    const view = `${alive.at(-1)?.revision} ${alive.length} ${this.group.floor} ${this.#settled} ${this.group.error?.message ?? ""}`;
    if (view === this.#view) return;
    this.#view = view;
    this.#rebuild(alive);
  }

  #rebuild(alive: StateEntry[]): void {
    const newest = alive.at(-1);
    this.#floor = this.group.floor;
    this.#members = undefined;
    this.#count = alive.reduce(
      (count, { resource }) => (resource === undefined ? count : count + 1),
      0,
    );
    this.#hash = alive.reduce((sum, { resource }) => hashWith(sum, resource?.hash ?? 0), 0);
    this.#head = newest?.revision ?? 0;
    this.#label = newest?.label;
    this.#log.reset(alive);
    this.#empty = undefined;
    this.#markEmpty();
  }

  #touch(): void {
    const { state } = this.host;
    state.work++;
    if (this.#head !== state.revision) state.touched.add(this);
    this.#head = state.revision;
    this.#members = undefined;
    this.#label = state.label;
  }

  #markEmpty(): void {
    if (
      !this.#settled ||
      this.#count > 0 ||
      this.#empty !== undefined ||
      this.interest.name === "*"
    )
      return;
    this.#empty = new StateEntry({
      revision: this.host.state.revision,
      name: this.interest.name,
      error: this.group.error,
    });
    this.#head = this.#empty.revision;
    this.#log.append(this.#empty);
  }

  #unmarkEmpty(): void {
    if (this.#empty === undefined) return;
    this.#empty.supersede();
    this.#empty = undefined;
    this.#log.bury();
  }
}
