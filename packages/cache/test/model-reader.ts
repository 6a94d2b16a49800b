import type { Entry, ResourceSource, Topic } from "@xdstp/core";
import { isGlob, nameKey } from "@xdstp/uri";
import { expectSame, expectSameItems } from "./expect-same.ts";
import type { NaiveStore } from "./naive-store.ts";
import { T } from "./scene.ts";

/**
 * A reader according to the contract: a cursor, and a view that is read only from `changes` and
 * `members`, and only after a wake.
 */
export class ModelReader {
  readonly interest: string;
  readonly #source: ResourceSource;
  readonly #topic: Topic;
  readonly #view = new Map<string, Entry>();
  /** The number of times that the history was not kept any more. */
  restarts = 0;
  #cursor = 0;
  #woken = true;
  #started = false;
  #arrays:
    | {
        readonly head: number;
        readonly members: readonly Entry[];
        readonly since: Map<string, readonly Entry[]>;
      }
    | undefined;

  constructor(source: ResourceSource, interest: string) {
    this.#source = source;
    this.interest = interest;
    this.#topic = source.topic(T, { name: interest });
    this.#topic.watch(this);
  }

  wake(): void {
    this.#woken = true;
  }

  leave(): void {
    this.#topic.unwatch(this);
  }

  /** Reads what is new, if it was woken. */
  read(): void {
    if (!this.#woken || !this.#topic.settled) return;
    this.#woken = false;
    const updates = this.#started ? this.#topic.changes(this.#cursor) : undefined;
    if (updates === undefined) {
      if (this.#started) this.restarts++;
      this.#view.clear();
    }
    this.#started = true;
    for (const entry of updates ?? this.#topic.members()) this.#take(entry);
    this.#cursor = this.#source.revision;
  }

  /** Checks that its view equals the model, and that the topic keeps the contract. */
  verify(model: NaiveStore, windowStart: number): void {
    if (!this.#topic.settled) return;
    this.read();
    const expected = model.covered(this.interest).toSorted();
    // For an alias the reader may have more: resources that dropped the alias. None of them may
    // have been removed.
    const known = [...this.#view.keys()]
      .filter((key) => this.#isCollection || expected.includes(key) || !model.names.has(key))
      .toSorted();
    expectSameItems(known, expected, () => this.interest);
    for (const key of expected) this.#verifyEntry(model, key);
    this.#verifyTopic(model, expected, windowStart);
  }

  /** Checks that it has what the model has, with the same content. */
  verifyMembers(model: NaiveStore): void {
    expectSame(this.#topic.settled, true, () => this.interest);
    this.read();
    const expected = model.covered(this.interest).toSorted();
    // For an alias the reader may have more, which it need not be notified of any longer.
    const known = [...this.#view.keys()]
      .filter((key) => this.#isCollection || expected.includes(key))
      .toSorted();
    expectSameItems(known, expected, () => this.interest);
    for (const key of expected)
      expectSame(contentOf(this.#view.get(key)), model.names.get(key)?.content);
  }

  get #isCollection(): boolean {
    return this.interest === "*" || isGlob(this.interest);
  }

  #take(entry: Entry): void {
    const key = nameKey(entry.name);
    if (entry.resource !== undefined) this.#view.set(key, entry);
    else if (entry.name !== this.interest || !this.#isCollection) this.#view.delete(key);
    else expectSameItems([...this.#view.keys()], [], () => "an empty collection");
  }

  #verifyEntry(model: NaiveStore, key: string): void {
    const entry = this.#view.get(key);
    const name = model.names.get(key);
    expectSame(contentOf(entry), name?.content);
    expectSame(entry?.resource?.ttlMs, name?.ttlMs);
    expectSame(entry?.superseded, false);
    expectSame(entry?.since, name?.since);
    const isOwnName = !this.#isCollection && nameKey(this.interest) === key;
    expectSame(entry?.name, isOwnName ? this.interest : name?.text);
    expectSame(this.#topic.get(key)?.resource, entry?.resource);
    expectSame(this.#source.topic(T, { name: entry?.name ?? "" }).members()[0], entry);
  }

  #verifyTopic(model: NaiveStore, expected: readonly string[], windowStart: number): void {
    const members = this.#topic.members();
    expectSameItems(
      members
        .flatMap(({ name, resource }) => (resource === undefined ? [] : [nameKey(name)]))
        .toSorted(),
      expected,
    );
    expectSame(
      members.length,
      expected.length === 0 && this.interest !== "*" ? 1 : expected.length,
    );
    const sum = members.reduce(
      (total, { resource }) => (total + BigInt(resource?.hash ?? 0)) % 2n ** 52n,
      0n,
    );
    expectSame(BigInt(this.#topic.hash), sum);
    expectSame(
      members.every(({ revision }) => revision <= this.#topic.head),
      true,
    );
    const removed = this.#topic
      .removed()
      .map(({ name }) => nameKey(name))
      .toSorted();
    if (this.#isCollection)
      expectSameItems(removed, model.removed(this.interest, windowStart).toSorted());
    this.#verifyArrays(members);
  }

  /**
   * Checks that arrays stay the same until `head` moves, and depend only on the first newer entry.
   */
  #verifyArrays(members: readonly Entry[]): void {
    const { head } = this.#topic;
    if (this.#arrays?.head !== head) this.#arrays = { head, members, since: new Map() };
    expectSame(members, this.#arrays.members);
    for (let back = 0; back < 8; back++) {
      const after = head - back;
      const array = this.#topic.changes(after);
      if (array === undefined) return;
      expectSame(
        array.every(
          ({ revision }, index) =>
            revision > after && revision >= (array[index - 1]?.revision ?? 0),
        ),
        true,
      );
      expectSame(new Set(array.map(({ name }) => nameKey(name))).size, array.length);
      const first = array[0] === undefined ? "" : `${array[0].name} ${array[0].revision}`;
      expectSame(array, this.#arrays.since.get(first) ?? array);
      this.#arrays.since.set(first, array);
    }
  }
}

function contentOf(entry: Entry | undefined): string {
  return new TextDecoder().decode(entry?.resource?.payload.value);
}
