import {
  matchesConstraints,
  readConstraints,
  type Constraints,
  type Entry,
  type Interest,
  type Put,
  type Removal,
  type Topic,
} from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { expectSameItems } from "../../test/expect-same.ts";
import { chooseSeed, createRandom, scaled, type Random } from "../../test/random.ts";
import { createDemandFeed, createWatcher, put, T } from "../../test/scene.ts";
import { asked, both, either, has, is, not, limitedTo } from "../../test/variants.ts";
import { createCache, type Cache } from "../index.ts";

const names = ["n", "xdstp://a/t.T/ns/x", "plain"];
const keyed: readonly Constraints[] = [
  is("a", "1"),
  is("a", "2"),
  not(has("a")),
  both(has("a"), not(is("a", "1"))),
  either(is("a", "1"), is("a", "2")),
];
const pool: readonly (Constraints | undefined)[] = [
  undefined,
  ...keyed,
  is("b", "1"),
  not(is("b", "1")),
];
const clients: readonly Readonly<Record<string, string>>[] = [
  {},
  { a: "1" },
  { a: "2" },
  { a: "3" },
  { b: "1" },
  { a: "1", b: "1", c: "1" },
];
const interests = [...names, "*", "xdstp://a/t.T/ns/*"].flatMap((name) =>
  clients.map((parameters) => asked(name, parameters)),
);

/** A client that applies what it is sent: its resources, by name and variant. */
class Holder {
  readonly held = new Map<string, Entry>();
  readonly #topic: Topic;
  #read: number;

  constructor(cache: Cache, interest: Interest) {
    this.#topic = cache.topic(T, interest);
    this.#topic.watch(createWatcher());
    for (const entry of this.#topic.members()) this.#take(entry);
    this.#read = cache.revision;
  }

  get topic(): Topic {
    return this.#topic;
  }

  catchUp(revision: number): void {
    for (const entry of this.#topic.changes(this.#read) ?? []) this.#take(entry);
    this.#read = revision;
  }

  #take(entry: Entry): void {
    const { name, resource, constraints, error } = entry;
    const key = `${name} ${Buffer.from(resource?.constraints ?? constraints ?? []).toString("hex")}`;
    if (resource !== undefined) this.held.set(key, entry);
    else if (error === undefined) this.held.delete(key);
  }
}

function randomChange(random: Random): {
  readonly put: readonly Put[];
  readonly remove: readonly Removal[];
} {
  const chosen = new Map<string, readonly [string, Constraints | undefined]>();
  for (let count = 1 + random.int(4); count > 0; count--) {
    const name = random.pick(names);
    const constraints = name === "plain" ? undefined : pool[random.int(pool.length)];
    chosen.set(`${name} ${JSON.stringify(constraints)}`, [name, constraints]);
  }
  const [puts, removals]: readonly [Put[], Removal[]] = [[], []];
  for (const [name, constraints] of chosen.values()) {
    const variant = constraints === undefined ? {} : limitedTo(constraints);
    if (random.chance(0.5)) removals.push({ typeUrl: T, name, ...variant });
    else puts.push(put(name, String(random.int(3)), variant));
  }
  return { put: puts, remove: removals };
}

/**
 * Returns what a client should be sent according to TP2: of each name the one variant that matches.
 */
function expected(cache: Cache, topic: Topic): readonly string[] {
  const { name: wanted, parameters } = topic.interest;
  const byName = new Map<string, string[]>();
  for (const { name, version, constraints } of cache.held(T)) {
    const isCovered =
      name === wanted || wanted === "*" || (wanted.endsWith("ns/*") && name.startsWith("xdstp:"));
    const read = constraints === undefined ? undefined : readConstraints(constraints);
    if (
      !isCovered ||
      (read?.fault === undefined &&
        read !== undefined &&
        !matchesConstraints(read.constraints, parameters))
    )
      continue;
    byName.set(name, [...(byName.get(name) ?? []), `${name} ${version}`]);
  }
  return [...byName.values()].flatMap((versions) => (versions.length === 1 ? versions : [])).sort();
}

function shown(entries: Iterable<Entry>): readonly string[] {
  return [...entries]
    .flatMap(({ name, resource }) => (resource === undefined ? [] : `${name} ${resource.version}`))
    .sort();
}

function run(seed: number, steps: number, isForced: boolean): void {
  const random = createRandom(seed);
  const cache = createCache();
  const feed = createDemandFeed();
  if (isForced) cache.addFeed(feed);
  const holders: Holder[] = [];
  for (let step = 0; step < steps; step++) {
    const change = randomChange(random);
    if (isForced) void feed.sink.commit(change);
    else cache.commit(change);
    if (step % 10 === 0)
      holders.push(
        ...interests
          .filter(() => random.chance(0.1))
          .map((interest) => new Holder(cache, interest)),
      );
    for (const holder of holders) {
      const { topic } = holder;
      const now = expected(cache, topic);
      expectSameItems(
        shown(topic.members()),
        now,
        () =>
          `seed ${seed} step ${step} ${JSON.stringify([topic.interest.name, ...(topic.interest.parameters ?? [])])}`,
      );
      expectSameItems(
        shown(
          cache
            .topic(T, {
              ...topic.interest,
              parameters: new Map([
                ...(topic.interest.parameters ?? []),
                ["unknown", String(step)],
              ]),
            })
            .members(),
        ),
        now,
      );
      if (random.chance(0.5)) holder.catchUp(cache.revision);
    }
  }
  for (const holder of holders) {
    holder.catchUp(cache.revision);
    const now = expected(cache, holder.topic);
    // A client that matches several variants is sent an error, and keeps its resource.
    if (isForced)
      for (const one of now) expect(shown(holder.held.values()), `seed ${seed}`).toContain(one);
    else expect(shown(holder.held.values()), `seed ${seed}`).toEqual(now);
  }
}

describe("variants in random order", () => {
  it.each([false, true])(
    "give each client the one that matches, and tell it of each that goes (overlapping by force: %j) [B-DYN-3, S-DYN-5, S-DYN-8]",
    (isForced) => {
      const seed = chooseSeed();
      for (let index = 0; index < scaled(2_000); index++) run(seed + index, 60, isForced);
    },
  );
});
