import type { Interest, XdsError } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import type { Variant } from "./read-name.ts";
import type { StateEntry } from "./state-entry.ts";

/**
 * The writer of a resource. `onDemand`: it is a feed that is sent subscriptions, so that names
 * without subscribers are dropped.
 */
export interface Owner {
  readonly onDemand: boolean;
}

/** The version and content digest that a name had before its last removal (B-VER-5). */
export interface LastVersion {
  readonly given: string;
  readonly digest: string;
}

/** The state of one name, or of one variant of it. The entry is replaced, the record stays. */
export class NameRecord {
  readonly key: string;
  /** The one glob that may cover the name. */
  readonly group: Group | undefined;
  /** True if `*` covers the name. */
  readonly inWildcard: boolean;
  entry: StateEntry | undefined;
  /** Its index in the list of its group, while it exists or has a tombstone; else -1. */
  place: number;
  /** The feed that put it last. undefined: the program itself. */
  owner: Owner | undefined;
  /** The version that was last removed. */
  last: LastVersion | undefined;
  /** The watched topic of exactly this name. Written by the index of topics. */
  topic: NameTopic | undefined;
  /** The variant of the name (TP2). Few records have one, so the others have no field for it. */
  declare readonly variant?: Variant;

  constructor(key: string, group: Group | undefined, inWildcard: boolean, variant?: Variant) {
    this.key = key;
    this.group = group;
    this.inWildcard = inWildcard;
    this.entry = undefined;
    this.place = -1;
    this.owner = undefined;
    this.last = undefined;
    this.topic = undefined;
    if (variant !== undefined) this.variant = variant;
  }
}

/** A topic of one name or alias. */
export interface NameTopic extends BaseTopic {
  /**
   * Looks up the resource again, since the name has changed, or another name that the topic showed.
   */
  refresh(changed: string): void;
  /** Returns true if the topic already reports this error for a name without a resource. */
  isMissing(error: XdsError | undefined): boolean;
}

/** A change of one member of a collection: the entry before it, and the entry that replaces it. */
export type Step = readonly [old: StateEntry | undefined, entry: StateEntry];

/** A topic of the names in a group. */
export interface GroupTopic extends BaseTopic {
  /** Records that a name in the group has a new entry. */
  note(...step: Step): void;
  /** Discards the history up to this revision, since it is incomplete. */
  drop(floor: number): void;
}

/** The names that match one glob or the wildcard, and the topics of these names. */
export class Group {
  readonly key: string;
  /** The watched topics: one for each spelling. */
  readonly topics: Set<GroupTopic> = new Set<GroupTopic>();
  /** The history up to this revision is incomplete. */
  floor: number;
  /** Number of records that may be in the group. */
  size = 0;
  /** True if a feed has reported the group as complete. */
  settled = false;
  /** The reason why the group is empty, until it has a resource (S-ERR-5). */
  error: XdsError | undefined = undefined;
  /** The records that exist or have a tombstone, each at its `place`. */
  readonly #records: NameRecord[] = [];

  constructor(key: string, floor: number) {
    this.key = key;
    this.floor = floor;
  }

  get records(): readonly NameRecord[] {
    return this.#records;
  }

  /** Adds a record that exists now. */
  add(record: NameRecord): void {
    record.place = this.#records.push(record) - 1;
  }

  /** Deletes a record. The last record moves to its place. */
  delete(record: NameRecord): void {
    const last = this.#records.pop();
    if (last === undefined || last === record) return;
    this.#records[record.place] = last;
    last.place = record.place;
  }

  /** Passes the new entry of a record to the topics. */
  note(old: StateEntry | undefined, entry: StateEntry): void {
    if (entry.resource !== undefined) this.error = undefined;
    if (this.topics.size > 0) for (const topic of this.topics) topic.note(old, entry);
  }

  /** Passes a change of a name with variants to the topics. The parameters of a topic decide which entry changes for it. */
  noteVariant(stepsFor: (parameters: Interest["parameters"]) => readonly Step[]): void {
    this.error = undefined;
    for (const topic of this.topics)
      for (const [old, entry] of stepsFor(topic.interest.parameters)) topic.note(old, entry);
  }

  /** Discards the history up to a revision, since it is incomplete. */
  drop(revision: number): void {
    this.floor = Math.max(this.floor, revision);
    for (const topic of this.topics) topic.drop(this.floor);
  }

  /**
   * True if the group can be deleted: it has no records and no topics, and was not reported as
   * complete.
   */
  get blank(): boolean {
    return this.size === 0 && this.topics.size === 0 && !this.settled;
  }
}

/**
 * Adds a record that exists now to the list of its group. Nearly every name is in the wildcard, so
 * the wildcard has no list of its own.
 */
export function enlist(record: NameRecord): void {
  if (record.place >= 0) return;
  if (record.group === undefined) record.place = 0;
  else record.group.add(record);
}

/**
 * Removes a record from the list of its group, since its removal has left the window or the name
 * was dropped. Readers that have not read up to this revision have missed the removal.
 */
export function unlist(record: NameRecord, wildcard: Group, revision: number): void {
  if (record.place < 0) return;
  record.group?.delete(record);
  record.place = -1;
  forGroups(record, wildcard, (group) => {
    group.drop(revision);
  });
}

/** Passes the new entry of a record to its groups. */
export function noteIn(
  { group, inWildcard }: NameRecord,
  wildcard: Group,
  old: StateEntry | undefined,
  entry: StateEntry,
): void {
  group?.note(old, entry);
  if (inWildcard) wildcard.note(old, entry);
}

/** Calls `visit` with each group of a record. */
export function forGroups(
  { group, inWildcard }: NameRecord,
  wildcard: Group,
  visit: (group: Group) => void,
): void {
  if (group !== undefined) visit(group);
  if (inWildcard) visit(wildcard);
}
