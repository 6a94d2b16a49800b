import type { Interest } from "@xdstp/core";

import type { CollectionTopic } from "./collection-topic.ts";
import type { NameRecord } from "./name-record.ts";
import type { StateEntry } from "./state-entry.ts";
import type { Step } from "./variants/variant-set.ts";

/** The names that one glob covers, or the wildcard, and the topics that follow them. */
export class Group {
  readonly key: string;
  /** Records of it that exist or have a tombstone. */
  readonly records: Set<NameRecord> = new Set<NameRecord>();
  /** The watched topics: one for each spelling. */
  readonly topics: Set<CollectionTopic> = new Set<CollectionTopic>();
  /** The history up to this revision has lost something. */
  floor: number;
  /** Number of records that may be in it. */
  size = 0;
  /** A feed has said that it is known completely. */
  settled = false;

  constructor(key: string, floor: number) {
    this.key = key;
    this.floor = floor;
  }

  /** A record has a new entry. */
  note(record: NameRecord, old: StateEntry | undefined, entry: StateEntry): void {
    if (entry.resource !== undefined && old?.resource === undefined) this.records.add(record);
    for (const topic of this.topics) topic.note(old, entry);
  }

  /** A name with variants has changed: what that is to a topic depends on its parameters. */
  noteVariant(record: NameRecord, stepsFor: (parameters: Interest["parameters"]) => readonly Step[]): void {
    if (record.entry?.resource !== undefined) this.records.add(record);
    for (const topic of this.topics) for (const [old, entry] of stepsFor(topic.interest.parameters)) topic.note(old, entry);
  }

  /** A tombstone has left the window, or a name has been forgotten: who has not seen that yet has lost it. */
  drop(record: NameRecord, revision: number): void {
    if (!this.records.delete(record)) return;
    this.floor = Math.max(this.floor, revision);
    for (const topic of this.topics) topic.drop(this.floor);
  }

  /** Nothing is known of it and nobody follows it. */
  get blank(): boolean {
    return this.size === 0 && this.topics.size === 0 && !this.settled;
  }
}
