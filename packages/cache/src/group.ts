import type { Interest, XdsError } from "@xdstp/core";

import type { CollectionTopic } from "./collection-topic.ts";
import type { NameRecord } from "./name-record.ts";
import type { StateEntry } from "./state-entry.ts";
import type { Step } from "./variants/variant-set.ts";

/** The names that one glob covers, or the wildcard, and the topics that follow them. */
export class Group {
  readonly key: string;
  /** The watched topics: one for each spelling. */
  readonly topics: Set<CollectionTopic> = new Set<CollectionTopic>();
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
