import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { XdsError, type Put } from "@xdstp/core";
import {
  createFakeClock,
  createSeededRandom,
  type FakeClock,
  type SeededRandom,
} from "@xdstp/testing";
import { expect, it } from "vitest";

import { flagName, flagUrl } from "../../rollout/test/flag.ts";
import { put, useDir, useKept, type Kept } from "../test/snapshots.ts";

const globs = ["one/*", "two/*"].map(flagName);
const solos = ["solo/x", "solo/y"].map(flagName);
const asked = [...globs, ...solos];
const names = [
  ...globs.flatMap((glob) => ["a", "b", "c"].map((id) => glob.replace("*", id))),
  ...solos,
];
const home = (name: string): string =>
  globs.find((glob) => name.startsWith(glob.slice(0, -1))) ?? name;
const away = new XdsError("UNAVAILABLE", "cannot be reached");

/** The state of a name. */
interface Fact {
  readonly text: string;
  readonly until: number;
  readonly noStore: boolean;
}

/** The contents that are, or will be, on disk. */
interface Disk {
  readonly facts: ReadonlyMap<string, Fact>;
  readonly complete: ReadonlySet<string>;
}

/** A relay, its upstream and its disk, and the expected state of each. */
class World {
  readonly random: SeededRandom;
  dir: string = useDir();
  readonly log: string[] = [];
  relay!: Kept;
  clock: FakeClock = createFakeClock({ start: 1_000_000 });
  /** The resources of upstream. */
  truth = new Map<string, Fact>();
  /** The resources that clients see. */
  view = new Map<string, Fact>();
  disk: { facts: Map<string, Fact>; complete: Set<string> } = {
    facts: new Map(),
    complete: new Set(),
  };
  /** Lengths of the write-ahead log, each with the contents that are stored up to there. */
  written: { readonly length: number; readonly disk: Disk }[] = [
    { length: 0, disk: { facts: new Map(), complete: new Set() } },
  ];
  watched = new Set<string>();
  said = new Set<string>();
  /**
   * Names that upstream has sent since they were requested, even if their collection is not
   * complete.
   */
  spoken = new Set<string>();
  settled = new Set<string>();
  heard = false;
  isAway = false;
  #texts = 0;

  constructor(seed: number) {
    this.random = createSeededRandom(seed);
  }

  async start(): Promise<void> {
    this.relay = useKept(this.dir, { clock: this.clock });
    Object.assign(this, {
      view: new Map(),
      watched: new Set(),
      said: new Set(),
      spoken: new Set(),
      settled: new Set(),
      heard: false,
      isAway: false,
    });
    for (const name of asked) if (this.random.below(5) > 0) await this.watch(name);
  }

  async step(): Promise<void> {
    const wanted = [...this.watched];
    switch (this.random.below(9)) {
      case 0:
      case 1:
      case 2:
        this.change();
        break;
      case 3:
      case 4:
        if (!this.isAway && wanted.length > 0) this.answer(this.random.pick(wanted));
        break;
      case 5:
        await this.flush();
        break;
      case 6:
        this.outage(!this.isAway);
        break;
      case 7:
        await this.toggle(this.random.pick(asked));
        break;
      default:
        await this.pass(this.random.below(3_000));
    }
    this.check();
  }

  /** Lets time pass after waiting changes are written. */
  async pass(ms: number): Promise<void> {
    await this.flush();
    this.clock.advance(ms);
  }

  /**
   * Changes a resource of upstream, and sends it if upstream is reachable and the name is
   * subscribed.
   */
  change(): void {
    const name = this.random.pick(names);
    const fact = {
      text: `${++this.#texts}`,
      until: this.random.below(4) === 0 ? this.clock.now() + 4_000 : Infinity,
      noStore: this.random.below(8) === 0,
    };
    const goes = this.random.below(3) === 0;
    if (goes) this.truth.delete(name);
    else this.truth.set(name, fact);
    if (
      this.isAway ||
      !this.watched.has(home(name)) ||
      (home(name) !== name && !this.said.has(home(name)))
    )
      return;
    this.log.push(`${goes ? "removes" : "puts"} ${name} ${fact.text}`);
    void this.relay.upstream.sink.commit(
      goes ? { remove: [{ typeUrl: flagUrl, name }] } : { put: [this.putOf(name, fact)] },
    );
    this.tell(name, goes ? undefined : fact);
  }

  /** Sends a complete answer for an interest, in one of several ways. */
  answer(name: string): void {
    this.log.push(`answers ${name}`);
    const { sink } = this.relay.upstream;
    const found = [...this.truth].filter(
      ([one, { until }]) => home(one) === name && until > this.clock.now(),
    );
    const isGlob = name.endsWith("*");
    if (!isGlob && found.length === 0) void sink.commit({ remove: [{ typeUrl: flagUrl, name }] });
    const interests = [{ typeUrl: flagUrl, interest: { name } }];
    const half = isGlob && this.random.below(3) === 0;
    if (half || this.random.below(2) === 0) {
      const some = half ? found.slice(0, 1) : found;
      const gone = half
        ? []
        : [...this.spoken].filter(
            (one) => home(one) === name && one !== name && !found.some(([key]) => key === one),
          );
      void sink.commit({
        put: some.map(([one, fact]) => this.putOf(one, fact)),
        remove: gone.map((one) => ({ typeUrl: flagUrl, name: one })),
      });
      if (isGlob && !half) void sink.commit({ settled: interests });
      for (const [one, fact] of some) this.tell(one, fact);
      if (half) return;
    } else {
      void sink.commit({
        put: found.map(([one, fact]) => this.putOf(one, fact)),
        ...(isGlob && { complete: interests }),
      });
    }
    for (const one of names)
      if (home(one) === name) this.tell(one, found.find(([key]) => key === one)?.[1]);
    if (isGlob) {
      this.disk.complete.add(name);
      this.settled.add(name);
    }
    this.said.add(name);
    this.heard = true;
  }

  tell(name: string, fact: Fact | undefined): void {
    this.spoken.add(name);
    if (fact === undefined) {
      this.view.delete(name);
      this.disk.facts.delete(name);
    } else {
      this.view.set(name, fact);
      this.disk.facts.set(name, fact);
    }
    if (home(name) !== name) return;
    this.said.add(name);
    this.heard = true;
  }

  putOf(name: string, { text, until, noStore }: Fact): Put {
    const ms = until - this.clock.now();
    return put(name, text, {
      ...(noStore && { noStore }),
      ...(until < Infinity && { expireMs: ms, ttlMs: 4_000 }),
    });
  }

  outage(isAway: boolean): void {
    this.log.push(isAway ? "away" : "back");
    this.isAway = isAway;
    this.relay.upstream.sink.unavailable({}, isAway ? away : undefined);
    if (isAway) for (const name of this.watched) this.restore(name);
  }

  async toggle(name: string): Promise<void> {
    if (!this.watched.has(name)) {
      await this.watch(name);
      return;
    }
    this.log.push(`unwatch ${name}`);
    await this.relay.unwatch(name);
    this.watched.delete(name);
    this.said.delete(name);
    this.settled.delete(name);
    for (const one of names)
      if (home(one) === name) {
        this.view.delete(one);
        this.spoken.delete(one);
      }
  }

  async watch(name: string): Promise<void> {
    this.log.push(`watch ${name}`);
    await this.relay.watch(name);
    this.watched.add(name);
    if (this.isAway || !this.heard) this.restore(name);
  }

  restore(name: string): void {
    if (this.said.has(name)) return;
    const members = [...this.disk.facts].filter(
      ([one, { until }]) => home(one) === name && until > this.clock.now() && !this.spoken.has(one),
    );
    for (const [one, fact] of members) if (!fact.noStore) this.view.set(one, fact);
    if (
      name.endsWith("*") &&
      this.disk.complete.has(name) &&
      members.every(([, { noStore }]) => !noStore)
    )
      this.settled.add(name);
  }

  async flush(): Promise<void> {
    await this.relay.store.flush();
    this.note();
  }

  note(): void {
    const { facts, complete } = this.disk;
    this.written.push({
      length: statSync(logOf(this.dir), { throwIfNoEntry: false })?.size ?? 0,
      disk: { facts: new Map(facts), complete: new Set(complete) },
    });
  }

  /** Kills the process while it writes: the log ends somewhere in the last write. */
  async crash(): Promise<void> {
    const before = this.written.at(-1)?.length ?? 0;
    await this.flush();
    const after = this.written.at(-1)?.length ?? 0;
    const length = before + this.random.below(after - before + 1);
    this.log.push(`crash at ${length} of ${before} to ${after}`);
    const dir = useDir();
    copyFileSync(join(this.dir, "snapshot.db"), join(dir, "snapshot.db"));
    if (after > 0) writeFileSync(logOf(dir), readFileSync(logOf(this.dir)).subarray(0, length));
    await this.relay.close();
    this.dir = dir;
    const { facts, complete } = this.written.findLast((one) => one.length <= length)?.disk ?? {
      facts: [],
      complete: [],
    };
    this.disk = { facts: new Map(facts), complete: new Set(complete) };
    this.written = [{ length, disk: { facts: new Map(facts), complete: new Set(complete) } }];
    this.clock = createFakeClock({ start: this.clock.now() + this.random.below(3_000) });
  }

  check(): void {
    const shown = asked.flatMap((name) => (this.watched.has(name) ? this.shownOf(name) : []));
    const expected = asked.flatMap((name) => (this.watched.has(name) ? this.expectedOf(name) : []));
    expect([this.log.join("\n"), shown]).toEqual([this.log.join("\n"), expected]);
  }

  shownOf(name: string): readonly string[] {
    const topic = this.relay.cache.topic(flagUrl, { name });
    const found = topic
      .members()
      .flatMap(({ name: one, resource }) =>
        resource === undefined ? [] : `${one}=${Buffer.from(resource.payload.value).toString()}`,
      )
      .sort();
    return [`${name}${name.endsWith("*") && topic.settled ? "!" : ""}`, ...found];
  }

  expectedOf(name: string): readonly string[] {
    const found = [...this.view]
      .filter(([one, { until }]) => home(one) === name && until > this.clock.now())
      .map(([one, { text }]) => `${one}=${text}`)
      .sort();
    return [`${name}${this.settled.has(name) ? "!" : ""}`, ...found];
  }

  /** Keeps upstream reachable until all clients have the same resources as upstream. */
  converge(): void {
    if (this.isAway) this.outage(false);
    for (const name of this.watched) {
      while (!this.said.has(name)) this.answer(name);
      this.check();
      expect([this.log.join("\n"), this.relay.cache.topic(flagUrl, { name }).stale]).toEqual([
        this.log.join("\n"),
        undefined,
      ]);
    }
  }
}

function logOf(dir: string): string {
  return join(dir, "snapshot.db-wal");
}

/** 4,000 seeds with XDSTP_SCALE=1; a hundredth of that by default. */
const seeds = Math.ceil(4_000 * Number(process.env.XDSTP_SCALE ?? "0.01"));

it.each(Array.from({ length: seeds }, (_, nth) => nth + 1))(
  "seed %i: after each crash there is what was on disk, wholly, and nothing of what upstream had removed; then all that upstream has [B-RELAY-9, B-RELAY-10, B-RELAY-11, B-RELAY-12]",
  async (seed) => {
    const world = new World(seed);
    for (let life = 0; life < 5; life++) {
      await world.start();
      world.check();
      for (let step = world.random.below(30); step > 0; step--) await world.step();
      if (world.random.below(2) === 0) world.converge();
      await world.crash();
    }
  },
);
