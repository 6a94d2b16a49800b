import { globMatches, nameKey } from "@xdstp/uri";
import { createFakeClock } from "@xdstp/testing";
import type {
  Interest,
  Put,
  Removal,
  ResourceFeed,
  ResourceSink,
  TypedInterest,
} from "@xdstp/core";
import { describe, expect, it } from "vitest";

import { ModelReader } from "../test/model-reader.ts";
import { NaiveStore } from "../test/naive-store.ts";
import { chooseSeed, createRandom, scaled, type Random } from "../test/random.ts";
import { put, T, turn } from "../test/scene.ts";
import { createCache, type Cache } from "./index.ts";

const names = [
  "o1",
  "o2",
  "al1",
  "xdstp://a/t.T/1",
  "xdstp://a/t.T/%31",
  "xdstp://a/t.T/ns/1",
  "xdstp://a/t.T/ns/2",
  "xdstp://a/t.T/ns/2?x=1",
  "xdstp://a/t.T/ns/%32?x=1",
];
const interests = [
  ...names,
  "al2",
  "*",
  "xdstp://a/t.T/ns/*",
  "xdstp://a/t.T/ns/%2A",
  "xdstp://a/t.T/ns/*?x=1",
];
const lingerMs = 100;

/**
 * An upstream server that knows everything, and a feed that passes on what it was requested, as a
 * delta client would.
 */
class Upstream implements ResourceFeed {
  readonly world = new NaiveStore();
  readonly #wanted = new Map<string, Interest>();
  /**
   * Names that were sent. If a change ends their subscription (for instance of an alias that was
   * dropped), their removal is sent.
   */
  readonly #given = new Set<string>();
  #sink: ResourceSink | undefined;
  /** Requested and not yet answered. */
  #open: Interest[] = [];

  run(sink: ResourceSink): Promise<void> {
    this.#sink = sink;
    return new Promise(() => undefined);
  }

  want(_: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const { name } of dropped) {
      if (!this.#wanted.delete(nameKey(name)))
        throw new Error(`${name} was dropped without having been wanted`);
    }
    for (const interest of added) {
      if (this.#wanted.has(nameKey(interest.name)))
        throw new Error(`${interest.name} was wanted twice`);
      this.#wanted.set(nameKey(interest.name), interest);
    }
    this.#open.push(...added);
  }

  /** Answers the open requests that are still subscribed. */
  answer(): void {
    const open = this.#open.filter(({ name }) => this.#wanted.has(nameKey(name)));
    this.#open = [];
    const puts = new Map<string, Put>();
    const remove: Removal[] = [];
    const settled: TypedInterest[] = [];
    for (const interest of open) {
      const covered = [
        ...this.world.covered(interest.name),
        ...this.world.withAlias(interest.name),
      ];
      for (const key of covered) puts.set(key, this.#put(key));
      if (interest.name === "*" || interest.name.includes("/*") || interest.name.includes("%2A"))
        settled.push({ typeUrl: T, interest });
      else if (covered.length === 0) remove.push({ typeUrl: T, name: interest.name });
    }
    void this.#sink?.commit({ put: [...puts.values()], remove: unique(remove), settled });
  }

  /** Changes something upstream, and passes on the subscribed part of it. */
  change(random: Random, now: number): void {
    const name = random.pick(names);
    const aliases = random.chance(0.4) ? [random.pick(["al1", "al2"])] : [];
    const key = nameKey(name);
    if (!random.chance(0.4))
      this.world.put(name, { content: String(random.int(3)), ttlMs: undefined, aliases }, 0);
    else if (this.world.names.has(key)) this.world.remove(name, now);
    if (this.world.names.has(key) && this.#isWanted(key))
      void this.#sink?.commit({ put: [this.#put(key)] });
    else if (this.#given.delete(key))
      void this.#sink?.commit({
        // An alias is put together with the resource that it leads to now, as a server sends it (S-ALIAS-1).
        put: this.#wanted.has(key) ? this.world.withAlias(key).map((real) => this.#put(real)) : [],
        remove: [{ typeUrl: T, name: key }],
      });
  }

  /** Sends something that was not requested yet. */
  push(interest: string): void {
    const covered = [...this.world.covered(interest), ...this.world.withAlias(interest)];
    const settled =
      interest === "*" || interest.includes("/*") || interest.includes("%2A")
        ? [{ typeUrl: T, interest: { name: interest } }]
        : [];
    void this.#sink?.commit({ put: [...new Set(covered)].map((key) => this.#put(key)), settled });
  }

  covers(key: string): boolean {
    return this.#isWanted(key);
  }

  #isWanted(key: string): boolean {
    const aliases = this.world.names.get(key)?.aliases ?? [];
    return [...this.#wanted.keys()].some(
      (wanted) =>
        wanted === key ||
        globMatches(wanted, key) ||
        (wanted === "*" && !key.includes("?")) ||
        aliases.includes(wanted),
    );
  }

  #put(key: string): Put {
    this.#given.add(key);
    const known = this.world.names.get(key);
    return put(known?.text ?? key, known?.content, { aliases: known?.aliases ?? [] });
  }
}

function unique(removals: readonly Removal[]): readonly Removal[] {
  return [...new Map(removals.map((removal) => [nameKey(removal.name), removal])).values()];
}

async function quiesce(upstream: Upstream): Promise<void> {
  await turn();
  upstream.answer();
  await turn();
}

/** A reader that subscribes, reads and unsubscribes in one turn. */
function glance(cache: Cache, upstream: Upstream, random: Random): void {
  const name = random.pick(interests);
  const reader = new ModelReader(cache, name);
  upstream.push(name);
  reader.leave();
}

/**
 * At rest each reader has what the upstream server has, and nothing is cached without a subscriber.
 */
async function verify(
  cache: Cache,
  upstream: Upstream,
  readers: readonly ModelReader[],
): Promise<void> {
  await quiesce(upstream);
  for (const reader of readers) reader.verifyMembers(upstream.world);
  for (const { name } of cache.held(T))
    expect(
      upstream.covers(nameKey(name)) || !upstream.world.names.has(nameKey(name)),
      `${name} is held`,
    ).toBe(true);
}

describe("a cache that is filled on demand beside a naive upstream", () => {
  it("asks for what is wanted, gives it, and forgets the rest [B-RELAY-1, B-RELAY-10]", async () => {
    const seed = chooseSeed();
    const steps = scaled(400_000);
    for (let done = 0, run = 0; done < steps; run++) {
      const random = createRandom(seed + run);
      const clock = createFakeClock();
      const cache = createCache({ clock, lingerMs: run % 2 === 0 ? 0 : lingerMs });
      const upstream = new Upstream();
      cache.addFeed(upstream);
      const readers: ModelReader[] = [];
      try {
        for (let i = 0; i < 1000 && done < steps; i++, done++) {
          const action = random.int(100);
          if (action < 30) upstream.change(random, clock.now());
          else if (action < 50 && readers.length < 12)
            readers.push(new ModelReader(cache, random.pick(interests)));
          else if (action < 68) readers.splice(random.int(readers.length), 1)[0]?.leave();
          else if (action < 75) upstream.answer();
          else if (action < 80) clock.advance(random.int(lingerMs));
          else if (action < 85) await verify(cache, upstream, readers);
          else if (action < 90) await turn();
          else if (action < 93) glance(cache, upstream, random);
          else if (readers.length > 0) random.pick(readers).read();
        }
        await verify(cache, upstream, readers);
        for (const reader of readers) reader.leave();
        clock.advance(lingerMs);
        await turn();
        expect(cache.counters).toMatchObject({ resources: 0, topics: 0 });
      } catch (error) {
        throw new Error(`run with XDSTP_SEED=${seed + run}`, { cause: error });
      }
    }
  });
});
