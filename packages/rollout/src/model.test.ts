import { createSeededRandom, type SeededRandom } from "@xdstp/testing";
import { type Committed, type Put, type Removal, whenDecided } from "@xdstp/core";
import { globMatches, nameKey } from "@xdstp/uri";
import { describe, expect, it } from "vitest";

import { flagName, flagUrl } from "../test/flag.ts";
import { createStageWorld, type StageWorld } from "../test/stage-world.ts";
import { accepts, openVoter, silent, type Voter } from "../test/voter.ts";

const names = ["x", "y", "g/1", "g/2", "g/3"].map((path) => flagName(path));
const interests = [["x"], ["y", "x"], ["g/*"], ["g/1", "x"], ["*"], ["*", "x"], ["g/*", "g/2"]].map(
  (paths) => paths.map((path) => (path === "*" ? path : flagName(path))),
);
const clients = ["a", "b", "c", "d", "e", "f"];
const waitMs = 10_000;

interface Stream {
  readonly voter: Voter;
  readonly asks: readonly string[];
  /** The number of its seen states that were checked. */
  looked: number;
}

/** The state of the upstream servers: what was not rejected, in the order in which it was sent. */
class Model {
  readonly world: StageWorld;
  readonly random: SeededRandom;
  readonly streams: Stream[] = [];
  readonly truth = new Map<string, string>();
  /** Every text that was ever given to all clients, by name. */
  readonly given = new Map<string, Set<string>>();
  readonly #busy: boolean[];
  /** The last put of each name, and its commit. */
  readonly #touched = new Map<string, { readonly before: number; readonly version: string }>();
  #texts = 0;
  #said = 0;
  rejected = 0;
  readonly faults: string[] = [];

  constructor(seed: number) {
    this.random = createSeededRandom(seed);
    this.world = createStageWorld({ clients: this.random.between(1, 3), waitMs }, 2);
    this.#busy = this.world.sinks.map(() => false);
    const topic = this.world.accepted.topic(flagUrl, { name: "*" });
    topic.watch({
      wake: () => {
        for (const { name, resource } of topic.members())
          if (resource !== undefined) this.#give(name, resource.version);
      },
    });
  }

  #give(name: string, text: string): void {
    const texts = this.given.get(name) ?? new Set<string>();
    this.given.set(name, texts.add(text));
  }

  /** One of the places commits something, unless it waits for an answer. */
  say(): void {
    const { random } = this;
    const place = random.below(this.#busy.length);
    if (this.#busy[place] === true) return;
    this.#noteGiven();
    const put: Put[] = [];
    const remove: Removal[] = [];
    for (const name of names.filter(() => random.once(3))) {
      if (random.once(6)) remove.push({ typeUrl: flagUrl, name });
      else put.push(this.#put(name));
    }
    this.#busy[place] = true;
    const at = this.world.clock.now();
    const before = ++this.#said;
    for (const {
      resource: { name, version },
    } of put)
      this.#touched.set(name, { before, version });
    for (const { name } of remove) {
      this.#touched.delete(name);
      this.truth.delete(name);
    }
    const committed = this.world.sinks[place]?.commit({
      put,
      remove,
      ...(random.once(5) && { complete: [] }),
    });
    let answers = 0;
    const conclude = ({ rejected = [] }: Committed): void => {
      this.#busy[place] = false;
      if (++answers > 1 || this.world.clock.now() - at > waitMs)
        this.faults.push(`${answers} answers, the last after ${this.world.clock.now() - at} ms`);
      this.rejected += rejected.length;
      const bad = new Set(rejected.map(({ name }) => name));
      for (const {
        resource: { name, version },
      } of put)
        if (bad.has(name) && this.given.get(name)?.has(version) === true)
          this.faults.push(`${version} was rejected and given to everyone`);
      for (const { resource } of put)
        if (!bad.has(resource.name) && this.#touched.get(resource.name)?.before === before)
          this.truth.set(resource.name, resource.version);
    };
    this.#noteGiven();
    if (committed !== undefined)
      whenDecided(committed, (decided) => {
        conclude(decided);
        return decided;
      });
  }

  /** Notes that a part of a commit may be given to all clients while the rest of it waits. */
  #noteGiven(): void {
    for (const [name, { version }] of this.#touched)
      if (versionIn(this.world.accepted, name) === version) this.truth.set(name, version);
  }

  get isBusy(): boolean {
    return this.#busy.includes(true);
  }

  #put(name: string): Put {
    const { random } = this;
    const known = this.truth.get(name);
    const text =
      known !== undefined && random.once(6)
        ? known
        : `${random.once(3) ? "bad" : "once"}${++this.#texts}@${lastOf(name)}`;
    return this.#putAs(name, text);
  }

  #putAs(name: string, text: string): Put {
    return {
      typeUrl: flagUrl,
      resource: { name, version: text, payload: { typeUrl: flagUrl, value: Buffer.from(text) } },
    };
  }

  connect(): void {
    const { random } = this;
    const id = random.pick(clients);
    const asks = random.pick(interests);
    const voter = openVoter(
      this.world,
      random.pick(["delta", "sotw"] as const),
      id,
      this.#verdict(),
      "whole",
    );
    voter.ask(flagUrl, ...asks);
    this.streams.push({ voter, asks, looked: 0 });
  }

  disconnect(): void {
    const stream = this.streams.splice(this.random.below(this.streams.length), 1)[0];
    stream?.voter.stream.cancel();
  }

  #verdict(): Voter["verdict"] {
    const { random } = this;
    if (random.once(4)) return silent;
    return random.once(2)
      ? accepts
      : ({ shown }) => (shown.some((one) => one.includes("=bad")) ? "it is bad" : undefined);
  }

  turnCoat(): void {
    if (this.streams.length > 0) this.random.pick(this.streams).voter.verdict = this.#verdict();
  }

  /** Checks that only the clients that see first see what is undecided or was rejected. */
  look(): void {
    for (const stream of this.streams) {
      const { voter, asks } = stream;
      const seen = voter.seen.slice(stream.looked);
      stream.looked = voter.seen.length;
      for (const one of seen.filter((text) => text.includes("="))) {
        const [, text = ""] = one.split("=");
        const name = names.find((full) => lastOf(full) === text.split("@")[1]) ?? "";
        if (this.given.get(name)?.has(text) === true) continue;
        const covering = this.world
          .topicsOf(voter.id)
          .filter(
            ({ interest }) => isCovered(name, [interest.name]) && asks.includes(interest.name),
          );
        expect(
          covering.some(({ isAhead }) => isAhead),
          `${voter.id} has seen ${name}=${text}`,
        ).toBe(true);
      }
    }
  }

  /** Changes every name again, since a client is not sent again unchanged what it has rejected. */
  async end(): Promise<void> {
    await this.rest();
    void this.world.sinks[0]?.commit({
      put: [...this.truth.keys()].map((name) => this.#putAs(name, `last@${lastOf(name)}`)),
    });
    for (const name of this.truth.keys()) this.truth.set(name, `last@${lastOf(name)}`);
    await this.rest();
    await this.world.pass(waitMs);
    await this.rest();
  }

  /** Lets every client answer, and time pass. */
  async rest(): Promise<void> {
    for (const { voter } of this.streams) voter.verdict = accepts;
    for (let round = 0; round < 400; round++) {
      await this.world.settle();
      if (this.streams.filter(({ voter }) => voter.answer()).length === 0) {
        if (!this.isBusy) break;
        await this.world.pass(waitMs);
      }
    }
    this.look();
  }

  verify(): void {
    expect(this.faults).toEqual([]);
    const held = (cache: StageWorld["ahead"]): object =>
      Object.fromEntries(
        [...cache.held(flagUrl)].map(({ name, version }) => [name, version] as const).sort(),
      );
    const truth = Object.fromEntries([...this.truth].sort());
    expect([held(this.world.accepted), held(this.world.ahead)]).toEqual([truth, truth]);
    for (const { voter, asks } of this.streams) {
      const expected = [...this.truth]
        .filter(([name]) => isCovered(name, asks))
        .map(([name, text]) => [lastOf(name), text]);
      expect([voter.closed, Object.fromEntries([...voter.holds].sort())]).toEqual([
        undefined,
        Object.fromEntries(expected.sort()),
      ]);
    }
  }
}

function versionIn(cache: StageWorld["accepted"], name: string): string | undefined {
  return [...cache.held(flagUrl, { name })][0]?.version;
}

/**
 * In SotW resources of full state are sent without their names, so their texts contain the name.
 */
function lastOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function isCovered(name: string, asks: readonly string[]): boolean {
  return asks.some(
    (ask) =>
      ask === "*" ||
      nameKey(ask) === nameKey(name) ||
      (ask.endsWith("/*") && globMatches(ask, name)),
  );
}

async function play(seed: number): Promise<number> {
  const model = new Model(seed);
  const { random, world } = model;
  for (let step = 0; step < 80; step++) {
    const act = random.below(10);
    if (act < 3) model.say();
    else if (act === 3) model.connect();
    else if (act === 4 && random.once(2)) model.disconnect();
    else if (act === 5) model.turnCoat();
    else if (act === 6) await world.pass(random.below(6_000));
    if (random.once(2)) await world.settle();
    for (const { voter } of model.streams) if (random.once(2)) voter.answer();
    model.look();
  }
  await model.end();
  model.verify();
  await world.quorum.close();
  return model.rejected;
}

describe("a quorum, whatever happens", () => {
  const runs = Math.max(200, Math.round(8_000 * Number(process.env.XDSTP_SCALE ?? "0.01")));
  const firstSeed = Number(process.env.XDSTP_SEED ?? Date.now() % 1_000_000);

  it(`shows nobody else what is undecided, ends on the newest that was accepted, and answers once and in time (${runs} seeds) [B-RELAY-5] [B-RELAY-6]`, async () => {
    let rejected = 0;
    for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
      try {
        rejected += await play(seed);
        // V8 keeps the targets of WeakRefs until the turn of the event loop is over.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      } catch (error) {
        throw new Error(
          `XDSTP_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        );
      }
    }
    expect(rejected).toBeGreaterThan(runs / 3);
  });
});
