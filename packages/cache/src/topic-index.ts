import { interestKey, type Interest } from "@xdstp/core";

import type { BaseTopic } from "./base-topic.ts";
import { ExactTopic } from "./exact-topic.ts";
import type { NameRecord, NameTopic } from "./name-record.ts";

/**
 * The watched topics of a type: each by its spelling, and topics of names also by their key.
 * Clients choose the spellings, so adding and deleting a topic costs the same whatever their
 * number.
 *
 * The topic of a name that has a record, if it is spelled as its key, is stored in the record. It
 * then needs no place in a map, and a change of the name finds it at once.
 */
export class TopicIndex implements Iterable<BaseTopic> {
  readonly #records: ReadonlyMap<string, NameRecord>;
  #inRecords = 0;
  readonly #topics = new Map<string, BaseTopic>();
  /** Further topics for a spelling that already has one, in the order of their addition. Few. */
  readonly #twins = new Map<string, readonly BaseTopic[]>();
  /**
   * Topics of names that are not found under their key: other spellings, topics with parameters,
   * further topics of a spelling. Few, so that all others need one map only.
   */
  readonly #others = new Map<string, Set<NameTopic>>();

  constructor(records: ReadonlyMap<string, NameRecord>) {
    this.#records = records;
  }

  /** The number of spellings. */
  get size(): number {
    return this.#inRecords + this.#topics.size;
  }

  /**
   * Yields one topic for each spelling. It visits every record, so it is used for outages and for
   * the first complete state, never for a change.
   */
  *[Symbol.iterator](): Iterator<BaseTopic> {
    if (this.#inRecords > 0)
      for (const { topic } of this.#records.values()) if (topic !== undefined) yield topic;
    yield* this.#topics.values();
  }

  find(interest: Interest): BaseTopic | undefined {
    return this.#first(interestKey(interest, interest.name));
  }

  add(topic: BaseTopic): void {
    const spelling = spellingOf(topic);
    if (this.#first(spelling) === undefined) this.#set(spelling, topic);
    else this.#setTwins(spelling, [...this.#twinsOf(spelling), topic]);
    if (topic instanceof ExactTopic && this.#first(topic.key) !== topic) this.#addOther(topic);
  }

  /** Deletes a topic. Another one of the same spelling takes its place. */
  delete(topic: BaseTopic): void {
    const spelling = spellingOf(topic);
    this.#dropOther(topic);
    if (this.#first(spelling) !== topic) {
      this.#setTwins(
        spelling,
        this.#twinsOf(spelling).filter((twin) => twin !== topic),
      );
      return;
    }
    const [twin, ...rest] = this.#twinsOf(spelling);
    this.#setTwins(spelling, rest);
    this.#unset(spelling);
    if (twin !== undefined) this.#set(spelling, twin);
    if (twin !== undefined && spelling === topic.key) this.#dropOther(twin);
  }

  /** Returns the topics of a name, in every spelling. */
  exact(key: string): readonly NameTopic[] {
    const own = this.#first(key);
    const others = this.#others.get(key) ?? NONE;
    return own instanceof ExactTopic ? [own, ...others] : [...others];
  }

  /** Returns the topics of the name of a record, mostly from the record itself. */
  of(record: NameRecord): readonly NameTopic[] {
    if (record.variant !== undefined || this.#others.size > 0) return this.exact(record.key);
    return record.topic === undefined ? NO_TOPICS : [record.topic];
  }

  /** Notes a new record: it stores the topic of its name from now on. */
  adopt(record: NameRecord): void {
    const topic = this.#topics.get(record.key);
    if (topic === undefined) return;
    this.#topics.delete(record.key);
    this.#set(record.key, topic);
  }

  /** Notes that a record is dropped: its topic moves back into the map. */
  release(record: NameRecord): void {
    const { topic } = record;
    if (topic === undefined) return;
    this.#inRecords--;
    this.#topics.set(record.key, topic);
  }

  #first(spelling: string): BaseTopic | undefined {
    return this.#records.get(spelling)?.topic ?? this.#topics.get(spelling);
  }

  #set(spelling: string, topic: BaseTopic): void {
    const record = this.#records.get(spelling);
    if (record === undefined || !(topic instanceof ExactTopic)) {
      this.#topics.set(spelling, topic);
      return;
    }
    record.topic = topic;
    this.#inRecords++;
  }

  #unset(spelling: string): void {
    const record = this.#records.get(spelling);
    if (record?.topic === undefined) {
      this.#topics.delete(spelling);
      return;
    }
    record.topic = undefined;
    this.#inRecords--;
  }

  #addOther(topic: NameTopic): void {
    const others = this.#others.get(topic.key);
    if (others === undefined) this.#others.set(topic.key, new Set([topic]));
    else others.add(topic);
  }

  #dropOther(topic: BaseTopic): void {
    const others = this.#others.get(topic.key);
    if (topic instanceof ExactTopic) others?.delete(topic);
    if (others?.size === 0) this.#others.delete(topic.key);
  }

  #twinsOf(spelling: string): readonly BaseTopic[] {
    return this.#twins.get(spelling) ?? [];
  }

  #setTwins(spelling: string, twins: readonly BaseTopic[]): void {
    if (twins.length > 0) this.#twins.set(spelling, twins);
    else this.#twins.delete(spelling);
  }
}

const NONE: ReadonlySet<NameTopic> = new Set();
const NO_TOPICS: readonly never[] = [];

function spellingOf({ interest }: BaseTopic): string {
  return interestKey(interest, interest.name);
}
