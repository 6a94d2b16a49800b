import type { Interest, XdsError } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import type { Variant } from "./read-name.ts";
import type { StateEntry } from "./state-entry.ts";

/** The writer of a resource. `onDemand`: a feed that knows the subscriptions, so that what has no subscribers is dropped. */
export interface Owner {
  readonly onDemand: boolean;
}

/** Version and content digest that a name had before its last removal (B-VER-5). */
export interface LastVersion {
  readonly given: string;
  readonly digest: string;
}

/** What the cache knows of one name, or of one variant of it; the entry is replaced, the record stays. */
export class NameRecord {
  readonly key: string;
  /** The one glob that may cover it. */
  readonly group: Group | undefined;
  /** Whether `*` covers it. */
  readonly inWildcard: boolean;
  entry: StateEntry | undefined;
  /** Where its group lists it, while it exists or has a tombstone; else -1. */
  place: number;
  /** Who put it last; undefined: the program itself. */
  owner: Owner | undefined;
  /** What was last removed. */
  last: LastVersion | undefined;
  /** The watched topic of this very name. Written by the index of topics. */
  topic: NameTopic | undefined;
  /** Which variant of the name (TP2). Of few, so the others have no field for it. */
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
  /** Something has happened to the name, or to another name that it has shown: looks up its resource again. */
  refresh(changed: string): void;
  /** Whether it says already that nothing is there, for this reason. */
  isMissing(error: XdsError | undefined): boolean;
}

/** What one collection notes of a change: the entry that it showed, and the one that takes its place. */
export type Step = readonly [old: StateEntry | undefined, entry: StateEntry];

/** A topic that follows a group. */
export interface GroupTopic extends BaseTopic {
  /** A name that it covers has a new entry. */
  note(...step: Step): void;
  /** Its history up to this revision has lost something. */
  drop(floor: number): void;
}

/** The names that one glob covers, or the wildcard, and the topics that follow them. */
export class Group {
  readonly key: string;
  /** The watched topics: one for each spelling. */
  readonly topics: Set<GroupTopic> = new Set<GroupTopic>();
  /** The history up to this revision has lost something. */
  floor: number;
  /** Number of records that may be in it. */
  size = 0;
  /** A feed has said that it is known completely. */
  settled = false;
  /** Why there is nothing in it, until there is something (S-ERR-5). */
  error: XdsError | undefined = undefined;
  /** Those that exist or have a tombstone. Each knows its place. */
  readonly #records: NameRecord[] = [];

  constructor(key: string, floor: number) {
    this.key = key;
    this.floor = floor;
  }

  get records(): readonly NameRecord[] {
    return this.#records;
  }

  /** A record of it exists. */
  add(record: NameRecord): void {
    record.place = this.#records.push(record) - 1;
  }

  /** A record of it is over: the last one takes its place. */
  delete(record: NameRecord): void {
    const last = this.#records.pop();
    if (last === undefined || last === record) return;
    this.#records[record.place] = last;
    last.place = record.place;
  }

  /** A record has a new entry. */
  note(old: StateEntry | undefined, entry: StateEntry): void {
    if (entry.resource !== undefined) this.error = undefined;
    if (this.topics.size > 0) for (const topic of this.topics) topic.note(old, entry);
  }

  /** A name with variants has changed: what that is to a topic depends on its parameters. */
  noteVariant(stepsFor: (parameters: Interest["parameters"]) => readonly Step[]): void {
    this.error = undefined;
    for (const topic of this.topics)
      for (const [old, entry] of stepsFor(topic.interest.parameters)) topic.note(old, entry);
  }

  /** Its history up to a revision has lost something. */
  drop(revision: number): void {
    this.floor = Math.max(this.floor, revision);
    for (const topic of this.topics) topic.drop(this.floor);
  }

  /** It has no content and no followers. */
  get blank(): boolean {
    return this.size === 0 && this.topics.size === 0 && !this.settled;
  }
}
